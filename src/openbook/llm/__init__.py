"""Models: what is said to them, what they say, and the two wires to them."""
