"""Linear regression: every penalty, and every row left out, from one decomposition."""
