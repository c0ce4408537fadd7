"""Discriminant analyses: every shrinkage, and every row left out, from one decomposition."""
