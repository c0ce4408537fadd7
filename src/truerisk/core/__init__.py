"""Foundations of all packages: estimators with candidates, argument checks, errors and text."""
