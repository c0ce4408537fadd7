"""Numbers of rows to develop a model, to validate it, to tune and to test."""
