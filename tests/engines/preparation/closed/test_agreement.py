"""Before a closed form is trusted it is compared with the scikit-learn installed."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from truerisk.core.table.data import Data
from truerisk.engines.preparation.closed import registry, scaling
from truerisk.engines.preparation.closed.agreement import agrees
from truerisk.engines.preparation.closed.answering import closed_steps
from truerisk.engines.preparation.closed.registry import FORMS
from truerisk.engines.preparation.closed.table import Numbers


@pytest.mark.parametrize("place", FORMS)
def test_it_agrees_here(place):
    """Every class that has a form is tried on something, and gives what scikit-learn gives."""
    import_module(place.partition(":")[0])
    assert agrees.__wrapped__(place, FORMS[place])


def otherwise(step):
    """StandardScaler, the last bit of whose cells is another."""
    form = scaling.standard(step)

    def fit(table, y):
        _, apply = form(table, y)
        moved = lambda other: Numbers(np.nextafter(apply(other).numbers(), np.inf))  # noqa: E731
        return moved(table), moved

    return fit


def test_what_differs_in_the_last_bit_is_not_used(monkeypatch):
    """Scikit-learn's own steps are fitted."""
    place = "sklearn.preprocessing:StandardScaler"
    data = Data.check(np.arange(40.0).reshape(20, 2), np.arange(20) % 2, task="classification")
    given = data, np.arange(10), np.arange(10) % 2, []
    assert closed_steps(Pipeline([("s", StandardScaler())]), *given) is not None
    monkeypatch.setattr(registry, "FORMS", {**FORMS, place: otherwise})
    assert closed_steps(Pipeline([("s", StandardScaler())]), *given) is None


@pytest.mark.parametrize("place", [place for place in FORMS if "FunctionTransformer" not in place])
def test_a_form_that_fails_or_gives_the_table_back_is_not_used(place):
    """Not agreement, and no error either."""
    assert not agrees.__wrapped__(place, lambda step: lambda table, y: (table, lambda other: other))
    assert not agrees.__wrapped__(place, lambda step: lambda table, y: 1 / 0)
