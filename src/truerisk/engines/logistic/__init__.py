"""Penalised logistic regression: one path per training set answers every penalty."""
