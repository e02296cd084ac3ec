"""Where text comes from: folders and files in, documents with exact offsets out."""
