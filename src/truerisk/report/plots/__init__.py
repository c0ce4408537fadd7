"""Matplotlib displays of results; matplotlib is imported when one is drawn."""
