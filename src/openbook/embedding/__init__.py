"""Embedding: texts to vectors. The default needs no network, no key and no torch."""
