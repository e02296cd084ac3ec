"""From a question to ranked chunks. Talks to any engine through the index protocol alone."""
