"""Plan how many rows it takes to develop, validate, tune and test a prediction model."""
