"""Diagnostics of an estimator: learning curves, permutation tests, drift over time, versions."""
