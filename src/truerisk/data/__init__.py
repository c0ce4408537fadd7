"""Rows of any kind of table, their targets, groups, weights, times and places."""
