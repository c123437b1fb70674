"""What comes back: bytes and times in, what was said and when out."""
