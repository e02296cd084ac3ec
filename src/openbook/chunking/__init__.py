"""Cuts documents into chunks: exact slices of their text, each small enough to be retrieved."""
