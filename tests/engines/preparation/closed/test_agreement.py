"""Before a closed form is trusted it is compared with the scikit-learn installed."""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from truerisk.data.data import Data
from truerisk.engines.preparation import FORMS
from truerisk.engines.preparation.closed import first_steps, scaling
from truerisk.engines.preparation.closed.agreement import agrees, agrees_on
from truerisk.engines.preparation.closed.first_steps import closed_steps, form_of
from truerisk.engines.preparation.closed.step_tables import Numbers, Refused


@pytest.mark.parametrize("place", FORMS)
def test_it_agrees_here(place):
    """Every class that has a form is tried on something, and gives what scikit-learn gives."""
    import_module(place.partition(":")[0])
    assert agrees.__wrapped__(place, FORMS[place].load())


@pytest.mark.parametrize("frames", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_frames_that_scikit_learn_takes_otherwise_are_not_taken(frames, monkeypatch):
    """Or not at all: scikit-learn 1.6 knows no columns of the present polars by their names."""
    data = [
        Data.check(frames({"a": np.arange(20.0)}), np.arange(20) % 2, task="classification")
        for _ in range(2)
    ]
    steps, given = Pipeline([("s", StandardScaler())]), (np.arange(10), np.arange(10) % 2, [])
    place = f"{frames.__module__.partition('.')[0]}:DataFrame"
    if agrees_on(place, form_of):
        assert closed_steps(steps, data[0], *given) is not None
    else:
        assert frames is pl.DataFrame
    monkeypatch.setattr(first_steps, "agrees_on", lambda *args: False)
    assert closed_steps(steps, data[1], *given) is None
    with suppress(Refused):  # of text, where scikit-learn takes the frame at all
        assert not agrees_on.__wrapped__(place, lambda step: lambda table, y: (table, None))


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
    instead = SimpleNamespace(module=scaling.__name__, load=lambda: otherwise)
    monkeypatch.setattr(first_steps, "FORMS", {**FORMS, place: instead})
    assert closed_steps(Pipeline([("s", StandardScaler())]), *given) is None


@pytest.mark.parametrize("place", [place for place in FORMS if "FunctionTransformer" not in place])
def test_a_form_that_gives_the_table_back_is_not_used_and_one_that_fails_is_an_error(place):
    """Only other cells are no agreement: our own failure must not pass for another release."""
    with suppress(Refused):  # of text
        assert not agrees.__wrapped__(place, lambda step: lambda table, y: (table, lambda one: one))
    with pytest.raises(ZeroDivisionError):
        agrees.__wrapped__(place, lambda step: lambda table, y: 1 / 0)
