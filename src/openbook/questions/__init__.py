"""What a question asks for: text in, one `Question` out."""
