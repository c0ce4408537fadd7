"""Computations that several estimation methods share."""
