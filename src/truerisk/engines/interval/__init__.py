"""Functions with at most k intervals on the line: every k, row left out and flip at once."""
