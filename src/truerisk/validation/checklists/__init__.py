"""Reporting and risk-of-bias checklists, filled in as far as data and computation allow."""
