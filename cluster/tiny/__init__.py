"""The embedded default: small real transformers with random weights, made on the spot."""
