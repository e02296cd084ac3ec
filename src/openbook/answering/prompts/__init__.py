"""The words that models are given, and those of refusals: one file each, with holes such as {question}."""
