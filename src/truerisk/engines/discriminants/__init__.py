"""Engines for discriminant analysis: one decomposition serves all shrinkages and left-out rows."""
