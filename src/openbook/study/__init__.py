"""Study guides: a summary, key terms and questions, each with a citation that has been checked."""
