"""Study guides: a summary, key terms and questions, each with a checked citation."""
