"""Why the smallest of several estimates is too small: equations 5 to 7 of document 001."""

from itertools import count

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr
from truerisk.extend import BadArgument, BadData, Refusal
from truerisk.intervals.bootstrapped_choice import correct_risk_by_bootstrap

X, Y = tr.datasets.make_simple(60, random_state=0)
GRID = {"n_neighbors": [1, 3, 9, 21]}


def curve_of(seed=0, grid=GRID, **options):
    """Return the risk curve of one data set."""
    rows = tr.datasets.make_simple(60, random_state=seed)
    return tr.risk_curve(KNeighborsClassifier(), grid, *rows, **{"cv": "5-fold", **options})


@pytest.fixture(scope="module")
def curve():
    return curve_of()


def test_selection_bias_has_the_three_equations_by_hand():
    """Two candidates, three data sets: α = (2/3, 1/3), and the means of 5, 6 and 7."""
    estimates = np.array([[0.1, 0.3], [0.2, 0.5], [0.4, 0.2]])
    true = np.array([[0.3, 0.4], [0.3, 0.4], [0.3, 0.4]])
    why = tr.SelectionBias(estimates, np.array([0, 0, 1]), true)
    assert why.shares == pytest.approx([2 / 3, 1 / 3])
    assert why.reported.mean == pytest.approx((0.1 + 0.2 + 0.2) / 3)
    assert why.unselected.mean == pytest.approx(2 / 3 * 0.7 / 3 + 1 / 3 * 1.0 / 3)
    assert why.true.mean == pytest.approx(2 / 3 * 0.3 + 1 / 3 * 0.4)
    assert why.true_of_chosen.mean == pytest.approx((0.3 + 0.3 + 0.4) / 3)
    assert why.bias == pytest.approx(why.unselected.mean - why.reported.mean)
    alone = tr.SelectionBias(np.array([[0.2], [0.4]]), np.array([0, 0]))
    assert alone.bias == 0
    errors = alone.reported.std_error, alone.unselected.std_error
    assert errors == pytest.approx((0.1, 0.1))


@settings(max_examples=60, deadline=None)
@given(
    estimates=arrays(
        float, st.tuples(st.integers(1, 12), st.integers(1, 6)), elements=st.integers(0, 4)
    )
)
def test_selection_bias_of_the_smallest_is_never_negative(estimates):
    """With ties or not; weights and α add to 1."""
    why = tr.SelectionBias(estimates, estimates.argmin(axis=1))
    assert why.bias >= -1e-12
    assert why.shares.sum() == pytest.approx(1)
    for mixture in (why.reported, why.unselected):
        assert mixture.weights.sum() == pytest.approx(1)
        assert len(mixture.weights) == len(mixture.values)
    assert why.true is why.true_of_chosen is None


def test_selection_bias_standard_errors_are_those_of_repeated_studies():
    """Over 400 studies of 50 data sets each the means vary as they say, within a tenth."""
    rng = np.random.default_rng(5)
    found = []
    for _ in range(400):
        centres = np.array([0.3, 0.32, 0.4])
        estimates = rng.normal(centres, 0.05, size=(50, 3)) + rng.normal(0, 0.03, size=(50, 1))
        why = tr.SelectionBias(estimates, estimates.argmin(axis=1))
        found.append([(m.mean, m.std_error) for m in (why.reported, why.unselected)])
    for means, errors in np.array(found).transpose(1, 2, 0):
        assert means.std() == pytest.approx(errors.mean(), rel=0.1)


def test_selection_bias_of_curves_takes_values_and_best_settings_of_many_data_sets():
    curves = [curve_of(seed) for seed in range(5)]
    why = tr.SelectionBias.of_curves(curves)
    np.testing.assert_array_equal(why.estimates, [curve.values for curve in curves])
    np.testing.assert_array_equal(why.chosen, [curve.best for curve in curves])
    assert "5 data sets" in str(why)
    assert "±" in str(why)


def test_selection_bias_of_curve_has_the_arithmetic_of_bbc(curve):
    """The rows that a sample missed give the value of `bbc`, within the noise of 4000 samples."""
    why = tr.SelectionBias.of_curve(curve, 4000)
    losses = np.array([one.losses for one in curve])
    known = correct_risk_by_bootstrap(losses, np.random.default_rng(1), replicates=4000)
    spread = known.bootstrap_risks.std() / np.sqrt(4000)
    assert why.true_of_chosen.mean == pytest.approx(known.value, abs=5 * spread)
    assert why.shares == pytest.approx(known.selection_counts / 4000, abs=0.05)
    weights = np.bincount(why.chosen, minlength=4) / why.n_repetitions
    assert why.unselected.mean == pytest.approx(weights @ curve.values, abs=0.005)
    assert "±" not in str(why)
    assert "samples of the rows" in str(why)


def test_selection_bias_of_curve_draws_by_its_seed(curve):
    first, same, other = (
        tr.SelectionBias.of_curve(curve, 50, seed) for seed in (3, np.random.default_rng(3), 4)
    )
    np.testing.assert_array_equal(first.estimates, same.estimates)
    assert not np.array_equal(first.estimates, other.estimates)


def test_selection_bias_of_curve_draws_groups_whole():
    """Twenty rows that come five times each vary as twenty rows do, and not as a hundred."""
    rows = np.repeat(np.arange(20), 5)
    features = np.random.default_rng(0).normal(size=(20, 3))[rows]
    options = {"cv": "5-fold", "groups": rows}
    curve = tr.risk_curve(KNeighborsClassifier(), GRID, features, rows % 2, **options)
    why = tr.SelectionBias.of_curve(curve, 2000)
    for one, drawn in zip(curve, why.estimates.T, strict=True):
        of_groups = np.bincount(rows[one.loss_rows], one.losses) / 5
        assert drawn.std() == pytest.approx(of_groups.std() / np.sqrt(20), rel=0.1)


def test_selection_bias_of_curve_of_equal_settings_has_no_bias():
    """Every mixture is the same, and the first of equals is taken."""
    why = tr.SelectionBias.of_curve(curve_of(grid={"n_neighbors": [3, 3]}), 20)
    assert why.bias == 0
    assert why.shares.tolist() == [1, 0]


TABLES = [
    (([0.1, 0.2], [0]), BadArgument, "estimates=.* give a table"),
    (("abc", [0]), BadArgument, "give a table"),
    ((np.empty((0, 2)), []), BadArgument, "give a table"),
    (([[0.1, 0.2]], [2]), BadArgument, "numbers outside 0 to 1"),
    (([[0.1, 0.2]], [-1]), BadArgument, "numbers outside 0 to 1"),
    (([[0.1, 0.2]], [0.0]), BadArgument, "give the number of the candidate"),
    (([[0.1, 0.2]], [0, 1]), BadArgument, "in each of the 1 repetitions"),
    (([[0.1, 0.2]], [[0], [0, 1]]), BadArgument, "in each of the 1 repetitions"),
    (([[0.1, 0.2], [0.1]], [0, 0]), BadArgument, "give a table"),
    (([[0.1, 0.2]], [0], [[0.1]]), BadArgument, r"true_risks has the shape \(1, 1\)"),
    (([[0.1, np.nan]], [0]), BadData, "estimates: candidate 1 has no risk in repetition 0"),
    (([[0], [1]], [0, 0], [[0], [np.inf]]), BadData, "true_risks: .* 0 .* in repetition 1"),
]
CURVES = [
    (lambda _: [], "give a list"),
    (lambda curve: [curve, 3], "give a list"),
    (lambda curve: curve, "give a list"),
    (lambda _: 5, "give a list"),
    (lambda curve: [curve, curve_of(grid={"n_neighbors": [1, 2]})], "different settings"),
    (lambda curve: [curve, curve_of(scoring="log")], "different losses"),
]
NESTED = tr.methods.Nested("3-fold", "3-fold")
SAMPLES = [
    (lambda curve: ([curve],), BadArgument, "is no risk curve"),
    (lambda _: (curve_of(rule="1-se"),), Refusal, "rule '1-se'"),
    (lambda _: (curve_of(cv=NESTED),), Refusal, "does not keep the losses"),
    (lambda curve: (curve, 1), BadArgument, "n_samples"),
    (lambda curve: (curve, 10, "x"), BadArgument, "no seed"),
]


@pytest.mark.parametrize(
    ("call", "given_", "error", "message"),
    [
        *[(tr.SelectionBias, lambda _, g=g: g, error, message) for g, error, message in TABLES],
        *[
            (tr.SelectionBias.of_curves, lambda curve, f=f: (f(curve),), BadArgument, message)
            for f, message in CURVES
        ],
        *[(tr.SelectionBias.of_curve, *case) for case in SAMPLES],
    ],
    ids=count(),
)
def test_selection_bias_refuses(curve, call, given_, error, message):
    """Arguments that are no table of risks are refused.

    Curves are refused if they do not compare or if no samples can be drawn from them.
    """
    arguments = given_(curve)
    with pytest.raises(error, match=message):
        call(*arguments)
