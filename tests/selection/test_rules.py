"""The smallest risk wins, the first of equal ones; or the simplest one within a standard error."""

import numpy as np
import pytest
from sklearn.model_selection import ParameterGrid
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr
from truerisk.exceptions import UnknownName
from truerisk.extend import Refusal
from truerisk.selection import Minimum, OneStandardError, as_rule
from truerisk.selection.rules import find_simplest_end

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
def test_minimum_chooses_the_first_of_the_smallest(values, best):
    """Failed candidates are left out; differences of rounding are ties."""
    assert Minimum().choose(np.array(values), NONE) == best


@pytest.mark.parametrize(
    ("values", "errors", "first", "last"),
    [
        ([0.5, 0.24, 0.2, 0.26, 0.25], [1.0, 1.0, 0.05, 1.0, 1.0], 1, 4),
        ([np.nan, 0.2, 0.21], [np.nan, 0.1, 0.1], 1, 2),
        ([0.1, 0.0, 0.0], [0.1, np.nan, np.nan], 1, 2),  # at risk 0 there is no spread
    ],
)
def test_rule_of_one_standard_error_chooses_the_simplest_within_that_of_the_best(
    values, errors, first, last
):
    """NaN is within no distance; the grid says which candidate is simple."""
    for simplest, best in (("first", first), ("last", last)):
        rule = OneStandardError(simplest)
        assert rule.choose(np.array(values), np.array(errors)) == best


def test_as_rule_takes_words_and_rules():
    rule = Minimum()
    assert as_rule(rule) is rule
    assert as_rule("min") == rule
    assert as_rule("1-se").name == "1-se"


NEEDS_ERRORS = "use rule='min', or a method with per-row losses .* In the order of time these are"


@pytest.mark.parametrize(
    ("call", "arguments", "error", "message"),
    [
        (as_rule, ["minn"], UnknownName, "did you mean 'min'"),
        (as_rule, [3], UnknownName, "rule=3 is neither a word"),
        (OneStandardError, ["middle"], UnknownName, "simplest='middle'"),
        (Minimum().choose, [NONE, NONE], Refusal, "every candidate has a failed fit"),
        (OneStandardError().choose, [np.arange(4.0) + 1, NONE], Refusal, NEEDS_ERRORS),
    ],
)
def test_rules_refuse_what_they_cannot_use(call, arguments, error, message):
    with pytest.raises(error, match=message):
        call(*arguments)


@pytest.mark.parametrize("outer", ["pairs", "2-fold", None])
@pytest.mark.parametrize("loss", ["auc", "f1"])
def test_rule_of_one_standard_error_of_a_search_is_that_of_a_curve(loss, outer):
    """Scores of whole folds as well, and in the outer training sets."""
    X, y = tr.datasets.make_simple(60, random_state=0)
    asked = KNeighborsClassifier(), {"n_neighbors": [15, 5, 1]}
    given = {"cv": "3-fold", "scoring": loss, "rule": "1-se"}
    curve = tr.risk_curve(*asked, X, y, **given)
    found = tr.HonestSearchCV(*asked, outer=outer, **given).fit(X, y).curve_
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
        # both rise together
        ([{"n_neighbors": [1], "alpha": [1.0]}, {"n_neighbors": [9], "alpha": [2.0]}], "first"),
    ],
)
def test_simple_end_of_a_grid_is_known_for_one_ordered_parameter(grid, end):
    """Of one parameter that varies in order and is known by name; else where the user put it."""
    assert find_simplest_end([*ParameterGrid(grid)]) == end


X, Y = tr.datasets.make_simple(200, random_state=1)
UP = {"n_neighbors": [1, 5, 9, 21, 45]}


def takes_the_last_good_setting(curve):
    limit = np.nanmin(curve.values) + curve.std_errors[np.nanargmin(curve.values)]
    good = np.flatnonzero(curve.values <= limit)
    return len(good) > 1 and curve.best == good[-1]


def test_rule_of_one_standard_error_by_word_takes_more_neighbours_in_either_order():
    """A rule that is given takes its own end."""
    up, down, first = (
        tr.risk_curve(KNeighborsClassifier(), {"n_neighbors": ks}, X, Y, cv="10-fold", rule=rule)
        for ks, rule in (
            (UP["n_neighbors"], "1-se"),
            (UP["n_neighbors"][::-1], "1-se"),
            (UP["n_neighbors"], OneStandardError()),
        )
    )
    assert up.best_params == down.best_params
    assert first.best_params["n_neighbors"] < up.best_params["n_neighbors"]
    assert takes_the_last_good_setting(up)


def test_rule_of_one_standard_error_by_word_knows_the_grid_of_a_learner_by_word():
    found = tr.assess(["knn"], X, Y, rule="1-se", cv=["10-fold"], outer="3-fold")
    assert takes_the_last_good_setting(found.learners["knn"].curve)
