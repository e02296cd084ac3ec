"""Sources: read folders, repositories and files into documents with exact offsets."""
