"""Rows of outcomes: copies weigh, rows without weight are left out."""

from __future__ import annotations

import numpy as np

from truerisk.validation.outcomes import HeldOut, Outcomes, clipped

HELD = HeldOut(
    rows=np.array([0, 1, 2, 0, 1, 2, 2]),
    fold=np.zeros(7, int),
    repetition=np.array([0, 0, 0, 1, 1, 1, 2]),
    fit=np.zeros(7, int),
    truth=np.array([0, 1, 1, 0, 1, 1, 1]),
    answers=np.column_stack([np.full(7, 0.5), np.array([0, 0.5, 1, 0.2, 0.5, 1, 0.9])]),
    response="probability",
    classes=np.array(["no", "yes"]),
    weights=np.array([1.0, 0.0, 2.0, 1.0, 0.0, 2.0, 2.0]),
    groups=None,
)


def test_a_row_answered_several_times_weighs_as_much_as_others():
    """Its answers share its weight and are one member; a row of weight 0 is left out."""
    found = Outcomes.held_out(HELD, clip=0.01)
    assert round(found.n, 12) == found.n_rows == 2
    np.testing.assert_allclose(1.5 * found.weights, [0.5, 2 / 3, 0.5, 2 / 3, 2 / 3])
    assert found.members.tolist() == [0, 1, 0, 1, 1]
    assert found.predictions.tolist() == [0.01, 0.99, 0.2, 0.99, 0.9]
    assert HELD.n_repetitions == 3


def test_quantiles_weigh_rows():
    """Of equal weights, in whatever unit, they are those of NumPy; a heavy row draws them."""
    values, shares = np.random.default_rng(0).random(41), (0.0, 0.01, 0.3, 0.5, 0.9, 1.0)
    for unit in (1.0, 0.01):
        rows = Outcomes.of(np.zeros(41), values, np.full(41, unit))
        np.testing.assert_allclose(rows.quantiles(values, shares), np.quantile(values, shares))
    heavy = Outcomes.of(np.zeros(3), np.arange(3.0), np.array([1.0, 1.0, 1000.0]))
    assert heavy.quantiles(np.arange(3.0), [0.0, 0.5, 1.0]).round(2).tolist() == [0.0, 1.5, 2.0]


def test_clipping_is_asked_for():
    """Probabilities stay as they are, but for rounding beyond 0 and 1."""
    given = np.array([-1e-17, 0.3, 1.0])
    assert clipped(given, None).tolist() == [0.0, 0.3, 1.0]
    assert clipped(given, 0.1).tolist() == [0.1, 0.3, 0.9]
