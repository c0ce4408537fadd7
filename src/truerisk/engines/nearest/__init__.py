"""Parts of the kNN engine."""
