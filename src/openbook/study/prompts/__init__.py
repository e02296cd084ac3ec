"""The prompt of a study guide."""
