"""Foundations of all packages: settings of learners, names, messages and text."""
