"""What a reviewer of a model asks: a part is a formula, a result and how a run gives it."""
