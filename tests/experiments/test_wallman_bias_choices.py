"""Whatever is chosen by the least error, that error is too small."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

import truerisk as tr
from truerisk.experiments.experiment import Sample, stream
from truerisk.experiments.wallman_bias import (
    APART,
    CHOICES,
    COLUMNS,
    ROWS,
    N,
    families,
    wallman_choices,
)


@pytest.fixture(scope="module")
def replicate():
    return wallman_choices.replicate(0, 3)


@pytest.mark.parametrize("name", CHOICES)
def test_a_replicate_is_a_risk_curve_and_fresh_rows(name, replicate):
    """10 folds of every candidate as a user finds them; the last candidate on the fresh rows."""
    drawn = Sample.alternating(ROWS, COLUMNS, APART, stream("wallman choices", 0, 3)).whole
    X, y = drawn.X, drawn.y
    family = families()[name]
    grid = [{word: [value] for word, value in one.items()} for one in family.candidates]
    found = {"cv": "10-fold", "random_state": 3}
    curve = tr.risk_curve(family.estimator, grid, X[:N], y[:N], **found)
    chosen, estimates, true = np.split(replicate[name], [1, 1 + len(curve.values)])
    assert estimates == pytest.approx(curve.values)
    assert chosen == curve.best
    last = clone(family.estimator).set_params(**family.candidates[-1]).fit(X[:N], y[:N])
    assert true[-1] == pytest.approx(1 - last.score(X[N:], y[N:]))


def test_the_table_is_of_the_choices(draws_of, findings_of):
    """Reported: the mean of the least errors; all estimates: by plain sums over the chosen."""
    rows = {row.name: row.means for row in findings_of("wallman-choices").tables[0].rows}
    for place, name in enumerate(CHOICES):
        drawn = draws_of("wallman-choices")[name]
        estimates, true = np.split(drawn[:, 1:], 2, axis=1)
        taken = drawn[:, 0].astype(int)
        assert rows["reported, p_a (6)"][place] == pytest.approx(estimates.min(axis=1).mean())
        unselected, fresh = estimates.mean(axis=0)[taken].mean(), true.mean(axis=0)[taken].mean()
        assert rows["all estimates, p_b (7)"][place] == pytest.approx(unselected)
        assert rows["true, p (5)"][place] == pytest.approx(fresh)
        bias = unselected - estimates.min(axis=1).mean()
        assert rows["p_b − p_a"][place] == pytest.approx(bias)
        assert bias > 0.02


def test_the_three_errors_stand_side_by_side(findings_of):
    """A group of bars for each choice, in the order of the table."""
    (panel,) = findings_of("wallman-choices").figures[0].panels
    (table,) = findings_of("wallman-choices").tables
    assert panel.names == CHOICES
    for bar, row in zip(panel.series, table.rows[:3], strict=True):
        assert bar.y.tolist() == list(row.means)
        assert bar.error.tolist() == list(row.std_errors)
