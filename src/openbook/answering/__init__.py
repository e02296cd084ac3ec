"""From results to an answer whose citations have been checked."""
