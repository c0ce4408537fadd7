"""Rows that depend on each other: a load by the day, and fields over a square."""

from __future__ import annotations

import numpy as np
import pytest

import truerisk as tr
from truerisk.core.errors import BadArgument, BadData
from truerisk.datasets import DailyLoadProblem, FieldProblem, make_field
from truerisk.datasets.dependent import WEEK


def level(problem, n, seed):
    """What is left of the load without the week and the temperature."""
    X, y = problem(n, random_state=seed)
    return y - WEEK[X[:, 1].astype(int)] + 0.8 * X[:, 2]


def test_the_level_has_variance_1_and_the_stated_memory() -> None:
    """From the first day on, whatever the memory."""
    for memory in (0.0, 0.9):
        levels = np.array([level(DailyLoadProblem(memory), 40, seed) for seed in range(2000)])
        assert levels.var(axis=0) == pytest.approx(np.ones(40), abs=0.15)
        assert np.mean(levels[:, 1:] * levels[:, :-1]) == pytest.approx(memory, abs=0.05)


def test_days_are_rows_in_their_order() -> None:
    """Dates from a Monday on; the same seed gives the same load."""
    X, y = tr.datasets.make_daily_load(21, random_state=1)
    assert X[:, 0].tolist() == list(range(21))
    assert X[:, 1].tolist() == [*range(7)] * 3
    assert (np.diff(tr.datasets.make_daily_load.dates(21)) == np.timedelta64(1, "D")).all()
    assert np.array_equal(y, tr.datasets.make_daily_load(21, random_state=1)[1])
    assert tr.datasets.load("daily-load").X.shape == (730, 3)


@pytest.mark.parametrize("memory", [-0.1, 1, "0.5", None])
def test_a_memory_is_a_share(memory) -> None:
    """Of 1 the level would never come back."""
    with pytest.raises(BadArgument, match="a level remembers a share"):
        DailyLoadProblem(memory)


def test_the_fields_have_the_stated_correlation() -> None:
    """Over many draws that of two places is exp(−d / range), and the variance 1."""
    problem = FieldProblem(range=0.3, task="regression")
    products, expected = [], []
    for seed in range(1500):
        X, _ = problem(2, random_state=seed)
        products.append([X[0, 2] * X[1, 2], X[0, 3] * X[1, 3], X[0, 2] ** 2, X[0, 2] * X[0, 3]])
        expected.append(np.exp(-np.hypot(*(X[0, :2] - X[1, :2])) / 0.3))
    a, b, variance, both = np.mean(products, axis=0)
    assert a == pytest.approx(np.mean(expected), abs=0.09)
    assert b == pytest.approx(np.mean(expected), abs=0.09)
    assert variance == pytest.approx(1, abs=0.12)
    assert both == pytest.approx(0, abs=0.09)


def test_the_target_has_the_stated_variance() -> None:
    """Signal 1 and noise: over draws of one row each."""
    problem = FieldProblem(noise=0.5, task="regression")
    y = [problem(1, random_state=seed)[1][0] for seed in range(2000)]
    assert np.var(y) == pytest.approx(1.5, abs=0.15)
    assert problem.bayes_risk == 0.5


def test_the_bayes_risk_is_that_of_the_known_signal() -> None:
    """A sign of s against one of s plus noise."""
    rng = np.random.default_rng(0)
    s = rng.normal(size=200_000)
    wrong = (s > 0) != (s + 0.5 * rng.normal(size=200_000) > 0)
    assert make_field.bayes_risk == pytest.approx(wrong.mean(), abs=0.003)


def test_classes_are_the_signs_of_the_numbers() -> None:
    """Of one seed, and a seed gives one draw."""
    X, y = make_field(50, random_state=3)
    same, numbers = FieldProblem(task="regression")(50, random_state=3)
    np.testing.assert_array_equal(X, same)
    np.testing.assert_array_equal(y, numbers > 0)


def test_places_lie_in_the_square_and_may_cluster() -> None:
    """Clustered ones are nearer to each other."""
    apart = []
    for problem in (FieldProblem(), FieldProblem(n_clusters=2)):
        places = problem(300, random_state=1)[0][:, :2]
        assert places.shape == (300, 2)
        assert (places >= 0).all()
        assert (places <= 1).all()
        distances = np.hypot(*(places[:, None] - places).transpose(2, 0, 1))
        apart.append(np.sort(distances, axis=1)[:, 1].mean())
    assert apart[1] < 0.6 * apart[0]


def test_it_is_a_data_set() -> None:
    """By its word, with named columns."""
    bundle = tr.datasets.load("field")
    assert bundle.X.shape == (200, 4)
    assert bundle.feature_names == ("east", "north", "a", "b")
    assert bundle.class_names == ("class 0", "class 1")
    assert FieldProblem(task="regression").bundle().class_names == ()


@pytest.mark.parametrize(
    "given",
    [{"range": 0}, {"range": "1"}, {"noise": -1}, {"task": "other"}, {"n_clusters": 0}],
    ids=str,
)
def test_what_is_no_field_is_refused(given) -> None:
    """Lengths and variances are positive; the task is one of two."""
    with pytest.raises(BadArgument):
        FieldProblem(**given)


def test_too_many_places_are_refused() -> None:
    """Their covariance would not fit."""
    with pytest.raises(BadData, match="at 5000 places at most"):
        make_field(5001)
