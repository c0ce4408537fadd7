"""Checks that look at the rows, columns and splits of one call and yield findings.

The class of a finding and the table of codes stand in `results/finding.py`.
"""
