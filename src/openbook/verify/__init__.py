"""Checks citations in other people's text: whether the cited lines are still there, or where they have moved."""
