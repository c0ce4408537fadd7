"""Implementations of the commands, imported when a command runs.

Therefore --help needs neither NumPy nor scikit-learn.
"""
