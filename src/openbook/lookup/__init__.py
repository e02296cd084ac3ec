"""Finds exact places in an index: references to names, lines, documents by path, near spellings."""
