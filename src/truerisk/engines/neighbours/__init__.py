"""Nearest neighbours: one sorted list of neighbours per row answers every k of every fit."""
