"""The listeners that ship, a class in each file."""
