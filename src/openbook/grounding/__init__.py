"""Grounding: parses claims and marks of an answer, and judges claims by the text that they cite."""
