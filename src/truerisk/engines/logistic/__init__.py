"""Engine for penalised logistic regression: one path per training set serves every penalty."""
