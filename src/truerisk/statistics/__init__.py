"""Statistical formulas that take arrays and return numbers, independent of plans and estimators."""
