"""Why prompt tokens were read again: one cause for each turn, from evidence."""
