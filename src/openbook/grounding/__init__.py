"""Whether the text that a claim cites carries it: claims and marks, their facts, and the judge."""
