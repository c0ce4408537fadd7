"""Posteriors of the error of linear rules."""
