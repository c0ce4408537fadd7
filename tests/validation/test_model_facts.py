"""What a model and its table are made of."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from truerisk.validation.model_facts import coefficients_of


def test_coefficients_are_those_of_one_line():
    """With its one intercept, and features that have names; of anything else none."""
    X = np.zeros((4, 2))
    line = SimpleNamespace(coef_=np.array([[1.0, 2.0]]), intercept_=np.array([3.0]))
    assert coefficients_of(line, X) == {"intercept": 3.0, "column 0": 1.0, "column 1": 2.0}
    assert coefficients_of(SimpleNamespace(coef_=line.coef_), X) == {}
    assert coefficients_of(line, np.zeros((4, 3))) == {}
    assert coefficients_of(SimpleNamespace(), X) == {}
