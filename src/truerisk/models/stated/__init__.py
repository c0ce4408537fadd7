"""Statistics of a fitted model that follow from formulas, such as degrees of freedom."""
