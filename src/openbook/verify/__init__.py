"""Checks citations that stand in text of others: what they name, and where that is today."""
