"""Checks of the rows, columns and splits of a call; each problem is reported as a finding.

The class of a finding and the table of all codes are in `results/finding.py`.
"""
