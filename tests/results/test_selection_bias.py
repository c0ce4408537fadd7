"""Why the smallest of several estimates is too small: equations 5 to 7 of document 001."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.dummy import DummyClassifier
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr
from truerisk.core.errors import BadArgument, BadData, Refusal
from truerisk.intervals.bootstrapped_choice import corrected_by_bootstrap

X, Y = tr.datasets.make_simple(60, random_state=0)
GRID = {"n_neighbors": [1, 3, 9, 21]}


def curve_of(seed=0, **options):
    """The risk curve of one data set."""
    rows = tr.datasets.make_simple(60, random_state=seed)
    options = {"cv": "5-fold", **options}
    return tr.risk_curve(KNeighborsClassifier(), GRID, *rows, **options)


def test_the_three_equations_by_hand():
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


@settings(max_examples=60, deadline=None)
@given(
    estimates=arrays(
        float, st.tuples(st.integers(1, 12), st.integers(1, 6)), elements=st.integers(0, 4)
    )
)
def test_the_smallest_of_several_is_never_too_large(estimates):
    """p_b is not below p_a when the smallest is taken, ties or not; weights and α add to 1."""
    why = tr.SelectionBias(estimates, estimates.argmin(axis=1))
    assert why.bias >= -1e-12
    assert why.shares.sum() == pytest.approx(1)
    for mixture in (why.reported, why.unselected):
        assert mixture.weights.sum() == pytest.approx(1)
        assert len(mixture.weights) == len(mixture.values)
    assert why.true is why.true_of_chosen is None


def test_a_single_candidate_has_no_bias():
    """Nothing is chosen: all mixtures are one."""
    why = tr.SelectionBias(np.array([[0.2], [0.4]]), np.array([0, 0]))
    assert why.bias == 0
    assert (
        why.reported.std_error == pytest.approx(why.unselected.std_error / 1) == pytest.approx(0.1)
    )


def test_standard_errors_are_those_of_repeated_studies():
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


def test_curves_of_many_data_sets():
    """Estimates are their values and choices their best settings."""
    curves = [curve_of(seed) for seed in range(12)]
    why = tr.SelectionBias.of_curves(curves)
    assert why.n_repetitions == 12
    np.testing.assert_array_equal(why.estimates, [curve.values for curve in curves])
    np.testing.assert_array_equal(why.chosen, [curve.best for curve in curves])
    assert why.bias > 0
    assert "12 data sets" in str(why)
    assert "±" in str(why)


def test_one_curve_has_the_arithmetic_of_bbc():
    """The rows that a sample missed give the value of `bbc`, within the noise of 4000 samples."""
    curve = curve_of()
    why = tr.SelectionBias.of_curve(curve, 4000)
    losses = np.array([one.losses for one in curve])
    known = corrected_by_bootstrap(losses, np.random.default_rng(1), replicates=4000)
    spread = known.replicates.std() / np.sqrt(4000)
    assert why.true_of_chosen.mean == pytest.approx(known.value, abs=5 * spread)
    assert why.shares == pytest.approx(known.frequencies / 4000, abs=0.05)
    weights = np.bincount(why.chosen, minlength=4) / why.n_repetitions
    assert why.unselected.mean == pytest.approx(weights @ curve.values, abs=0.005)
    assert "±" not in str(why)
    assert "samples of the rows" in str(why)


def test_the_same_seed_gives_the_same_samples():
    """And another one others; a generator will do."""
    curve = curve_of()
    first, same, other = (
        tr.SelectionBias.of_curve(curve, 50, seed) for seed in (3, np.random.default_rng(3), 4)
    )
    np.testing.assert_array_equal(first.estimates, same.estimates)
    assert not np.array_equal(first.estimates, other.estimates)


def test_a_search_tells_why_its_best_score_flatters():
    """From `search.curve_`, without a fit."""
    search = tr.HonestSearchCV(KNeighborsClassifier(), GRID, outer=None).fit(X, Y)
    assert tr.SelectionBias.of_curve(search.curve_).bias > 0


def test_groups_are_drawn_whole():
    """Twenty rows that come five times each vary as twenty rows do, and not as a hundred."""
    rows = np.repeat(np.arange(20), 5)
    features = np.random.default_rng(0).normal(size=(20, 3))[rows]
    options = {"cv": "5-fold", "groups": rows}
    curve = tr.risk_curve(KNeighborsClassifier(), GRID, features, rows % 2, **options)
    why = tr.SelectionBias.of_curve(curve, 2000)
    for one, drawn in zip(curve, why.estimates.T, strict=True):
        of_groups = np.bincount(rows[one.loss_rows], one.losses) / 5
        assert drawn.std() == pytest.approx(of_groups.std() / np.sqrt(20), rel=0.1)


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        (([0.1, 0.2], [0]), "estimates=.* give a table"),
        (("abc", [0]), "give a table"),
        ((np.empty((0, 2)), []), "give a table"),
        (([[0.1, 0.2]], [2]), "numbers outside 0 to 1"),
        (([[0.1, 0.2]], [-1]), "numbers outside 0 to 1"),
        (([[0.1, 0.2]], [0.0]), "give the number of the candidate"),
        (([[0.1, 0.2]], [0, 1]), "in each of the 1 repetitions"),
        (([[0.1, 0.2]], [[0], [0, 1]]), "in each of the 1 repetitions"),
        (([[0.1, 0.2], [0.1]], [0, 0]), "give a table"),
        (([[0.1, 0.2]], [0], [[0.1]]), r"true_risks has the shape \(1, 1\)"),
    ],
)
def test_what_is_no_table_of_risks_is_refused(given_, message):
    """With a sentence."""
    with pytest.raises(BadArgument, match=message):
        tr.SelectionBias(*given_)


def test_a_risk_that_is_missing_is_named():
    """By its candidate and repetition, among the estimates as among the true risks."""
    with pytest.raises(BadData, match="estimates: candidate 1 has no risk in repetition 0"):
        tr.SelectionBias([[0.1, np.nan]], [0])
    with pytest.raises(BadData, match="true_risks: candidate 0 has no risk in repetition 1"):
        tr.SelectionBias([[0.1], [0.2]], [0, 0], [[0.1], [np.inf]])


def test_curves_that_do_not_compare_are_refused():
    """Other settings, other losses, no curves at all, a rule that is not the minimum."""
    curve = curve_of()
    other = tr.risk_curve(KNeighborsClassifier(), {"n_neighbors": [1, 2]}, X, Y, cv="5-fold")
    for curves, message in (
        ([], "give a list"),
        ([curve, 3], "give a list"),
        (curve, "give a list"),
        (5, "give a list"),
        ([curve, other], "different settings"),
        ([curve, curve_of(scoring="log")], "different losses"),
    ):
        with pytest.raises(BadArgument, match=message):
            tr.SelectionBias.of_curves(curves)
    with pytest.raises(BadArgument, match="is no risk curve"):
        tr.SelectionBias.of_curve([curve])
    with pytest.raises(Refusal, match="rule '1-se'"):
        tr.SelectionBias.of_curve(curve_of(rule="1-se"))
    with pytest.raises(Refusal, match="does not keep the losses"):
        tr.SelectionBias.of_curve(curve_of(cv=tr.methods.Nested("3-fold", "3-fold")))
    with pytest.raises(BadArgument, match="n_samples"):
        tr.SelectionBias.of_curve(curve, 1)
    with pytest.raises(BadArgument, match="no seed"):
        tr.SelectionBias.of_curve(curve, 10, "x")


def test_rows_that_are_all_alike_have_no_bias():
    """A constant that is always right: every mixture is 0, and the first of equals is taken."""
    curve = tr.risk_curve(
        DummyClassifier(),
        {"strategy": ["prior", "most_frequent"]},
        X,
        [0] * 59 + [1],
        cv=tr.methods.Holdout(0.5),
    )
    why = tr.SelectionBias.of_curve(curve, 20)
    assert why.bias == 0
    assert why.shares.tolist() == [1, 0]
