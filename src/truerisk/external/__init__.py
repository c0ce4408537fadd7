"""Searches that were run elsewhere: audit a table of their losses, and a holdout they can ask."""
