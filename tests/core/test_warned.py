"""Warnings point to the line of the user."""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier

import truerisk as tr
from truerisk.core.errors import TrueRiskWarning
from truerisk.core.warned import warn


def test_a_warning_points_to_the_call():
    """Here it is raised by the engine, some thirty calls below."""
    rows = np.repeat(np.arange(20.0)[:, None], 2, axis=0)
    with pytest.warns(TrueRiskWarning) as said:
        tr.estimate_risk(DummyClassifier(), rows, np.arange(40) % 2, method="5-fold")
    assert {warning.filename for warning in said} == {__file__}


def test_calls_through_contextlib_are_inside():
    """A block that warns at its end points to the block."""

    @contextmanager
    def block():
        yield
        warn("at the end", UserWarning)

    with pytest.warns(UserWarning, match="at the end") as said, block():
        pass
    assert said[0].filename == __file__
