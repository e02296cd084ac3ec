"""What a library's answers are worth: question sets in, figures out."""
