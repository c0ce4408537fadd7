"""Fit scikit-learn estimators, collect their predictions and count their warnings."""
