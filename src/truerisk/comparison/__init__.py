"""Comparison of two learners on the same rows and splits, and of methods over data sets."""
