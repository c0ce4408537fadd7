"""Checks of the rows, columns and splits of one call, which yield findings.

The class of a finding and the table of codes are in `results/finding.py`.
"""
