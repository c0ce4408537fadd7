"""Quantities that formulas give for a fitted model, such as degrees of freedom."""
