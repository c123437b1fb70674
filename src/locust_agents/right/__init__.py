"""Whether answers were right: code words that are asked back, and one prompt alone and in the crowd."""
