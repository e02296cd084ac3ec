"""Trains the embedding model that Openbook ships: packages, pairs, teacher, training. tools/README.md says how."""
