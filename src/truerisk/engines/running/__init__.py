"""Run scikit-learn's fits, collect their answers and count their warnings."""
