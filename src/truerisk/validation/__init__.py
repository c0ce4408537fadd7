"""Validation of a tuned model: each part is a formula, a result and its computation from a run."""
