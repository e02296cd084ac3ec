"""From a source to an index that holds what the source holds."""
