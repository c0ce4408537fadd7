"""Readers of data files: from a file's format and cells to features, target and other columns."""
