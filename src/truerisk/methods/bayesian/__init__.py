"""Posterior distributions of the true error of linear classification rules."""
