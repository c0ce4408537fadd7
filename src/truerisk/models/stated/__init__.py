"""What a model states of itself, by formula."""
