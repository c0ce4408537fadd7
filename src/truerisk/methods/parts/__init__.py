"""Computations that several methods share."""
