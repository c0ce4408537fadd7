"""Penalised logistic regression: every penalty from one path per train set."""
