"""Computation of what a plan requests besides predictions, for the generic engine."""
