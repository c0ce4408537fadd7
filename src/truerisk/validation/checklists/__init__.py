"""Checklists of reporting and of bias, filled in as far as data and computation tell."""
