"""Rows of any kind of table, with their targets, groups, sample weights, times and places."""
