"""Nearest neighbours: every k of every fit from one sorted list per row."""
