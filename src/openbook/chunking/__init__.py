"""Splits documents into chunks: exact slices of their text, small enough to be retrieved."""
