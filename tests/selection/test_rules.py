"""The smallest risk wins, the first of equal ones; or the simplest one within a standard error."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import ParameterGrid
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr
from truerisk.core.errors import Refusal, UnknownName
from truerisk.selection import as_rule
from truerisk.selection.rules import Minimum, OneStandardError, simple_end

NONE = np.full(4, np.nan)


@pytest.mark.parametrize(
    ("values", "best"),
    [
        ([0.3, 0.1, 0.2, 0.1], 1),
        ([0.3, 0.1 + 1e-14, 0.2, 0.1], 1),
        ([0.3, 0.1 + 1e-9, 0.2, 0.1], 3),
        ([np.nan, 0.4, 0.2, np.nan], 2),
        ([1e6 + 1e-8, 1e6, 2e6, 3e6], 0),
        ([-3.0, -5.0, -5.0, 0.0], 1),
        ([3e-14, 1e-14, 2e-14, 1e-14], 1),
        ([0.0, 1e-30, 0.0, 1.0], 0),
    ],
)
def test_the_first_of_the_smallest(values, best) -> None:
    """Failed candidates are left out; differences of rounding are ties."""
    assert Minimum().choose(np.array(values), NONE) == best


def test_nothing_to_choose_from() -> None:
    """If every candidate failed there is no choice."""
    with pytest.raises(Refusal, match="every candidate has a failed fit"):
        Minimum().choose(NONE, NONE)


def test_rules_by_word() -> None:
    """A rule is a word or a rule; anything else gets the nearest word."""
    rule = Minimum()
    assert as_rule(rule) is rule
    assert as_rule("min") == rule
    assert as_rule("1-se").word == "1-se"
    with pytest.raises(UnknownName, match="did you mean 'min'"):
        as_rule("minn")
    with pytest.raises(UnknownName, match="rule=3 is neither a word"):
        as_rule(3)


# ---------------- The simplest candidate within one standard error of the best


VALUES = np.array([0.5, 0.24, 0.2, 0.26, 0.25])


@pytest.mark.parametrize(("simplest", "best"), [("first", 1), ("last", 4)])
def test_the_simplest_within_one_standard_error(simplest, best) -> None:
    """The standard error is that of the best; the grid says which candidate is simple."""
    errors = np.array([1.0, 1.0, 0.05, 1.0, 1.0])
    assert OneStandardError(simplest).choose(VALUES, errors) == best


def test_a_failed_candidate_is_never_chosen() -> None:
    """NaN is within no distance."""
    values = np.array([np.nan, 0.2, 0.21])
    assert OneStandardError().choose(values, np.array([np.nan, 0.1, 0.1])) == 1


def test_risk_zero_needs_no_standard_error() -> None:
    """At risk 0 there is no spread, and the simplest candidate at 0 is chosen."""
    values = np.array([0.1, 0.0, 0.0])
    errors = np.array([0.1, np.nan, np.nan])
    assert OneStandardError().choose(values, errors) == 1
    assert OneStandardError("last").choose(values, errors) == 2


def test_without_standard_errors_it_refuses() -> None:
    """The message says which method gives one."""
    said = "use rule='min', or a method with per-row losses .* In the order of time these are"
    with pytest.raises(Refusal, match=said):
        OneStandardError().choose(VALUES, np.full(5, np.nan))


def test_simplest_is_first_or_last() -> None:
    """Another word is refused."""
    with pytest.raises(UnknownName, match="simplest='middle'"):
        OneStandardError("middle")


@pytest.mark.parametrize("outer", ["pairs", "2-fold", None])
@pytest.mark.parametrize("loss", ["auc", "f1"])
def test_a_search_chooses_by_the_error_that_a_curve_has(loss, outer) -> None:
    """Scores of whole folds as well, and in the outer training sets."""
    X, y = tr.datasets.make_simple(60, random_state=0)
    asked = KNeighborsClassifier(), {"n_neighbors": [15, 5, 1]}
    curve = tr.risk_curve(*asked, X, y, cv="3-fold", scoring=loss, rule="1-se")
    words = {"cv": "3-fold", "outer": outer, "scoring": loss, "rule": "1-se"}
    found = tr.HonestSearchCV(*asked, **words).fit(X, y).curve_
    assert (found.best, found[0].std_error) == (curve.best, curve[0].std_error)


@pytest.mark.parametrize(
    ("grid", "end"),
    [
        ({"n_neighbors": [1, 3, 9]}, "last"),
        ({"n_neighbors": [9, 3, 1]}, "first"),
        ({"model__alpha": [0.1, 1.0]}, "last"),
        ({"svc__C": [0.1, 1.0]}, "first"),
        ({"svc__C": [1.0, 0.1]}, "last"),
        ({"max_depth": [1, 2, None]}, "first"),
        ({"n_neighbors": [1, 9, 3]}, "first"),
        ({"n_neighbors": [1, 9], "p": [2]}, "last"),
        ({"n_neighbors": [1, 9], "p": [1, 2]}, "first"),
        ({"colour": [1, 9]}, "first"),
        ({}, "first"),
    ],
)
def test_the_simple_end_of_a_grid(grid, end) -> None:
    """Of one parameter that varies in order and is known by name; else where the user put it."""
    assert simple_end([*ParameterGrid(grid)]) == end


def test_two_parameters_that_vary_have_no_known_simple_end() -> None:
    """Even where both rise together."""
    both = [{"n_neighbors": 1, "alpha": 1.0}, {"n_neighbors": 9, "alpha": 2.0}]
    assert simple_end(both) == "first"


@pytest.mark.parametrize("learner", ["a grid", "a word"])
def test_more_neighbours_are_simpler_in_either_order(learner) -> None:
    """The word 1-se takes the most within an error; a rule that is given takes its own end."""
    X, y = tr.datasets.make_simple(200, random_state=1)
    if learner == "a word":
        found = tr.assess(["knn"], X, y, rule="1-se", cv=["10-fold"], outer="3-fold")
        curve = found.learners["knn"].curve
    else:
        up = {"n_neighbors": [1, 5, 9, 21, 45]}
        down = {"n_neighbors": up["n_neighbors"][::-1]}
        curve, other = (
            tr.risk_curve(KNeighborsClassifier(), grid, X, y, cv="10-fold", rule="1-se")
            for grid in (up, down)
        )
        assert curve.best_params == other.best_params
        first = tr.risk_curve(
            KNeighborsClassifier(), up, X, y, cv="10-fold", rule=OneStandardError()
        )
        assert first.best_params["n_neighbors"] < curve.best_params["n_neighbors"]
    limit = np.nanmin(curve.values) + curve.std_errors[np.nanargmin(curve.values)]
    good = np.flatnonzero(curve.values <= limit)
    assert len(good) > 1
    assert curve.best == good[-1]
