"""Engines for linear regression: one decomposition serves all penalties and left-out rows."""
