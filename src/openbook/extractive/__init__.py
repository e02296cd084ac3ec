"""Answers questions by quotes from results, without a model."""
