"""Grounding: parse the claims and marks of an answer, and check each claim against the text it cites."""
