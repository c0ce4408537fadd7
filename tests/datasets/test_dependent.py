"""Rows that depend on each other: a load by the day, and fields over a square."""

import numpy as np
import pytest

import truerisk as tr
from truerisk.datasets import DailyLoadProblem, FieldProblem, make_daily_load, make_field
from truerisk.extend import BadArgument, BadData


@pytest.mark.parametrize("memory", [0.0, 0.9])
def test_daily_load_has_a_level_of_variance_1_and_the_stated_memory(memory):
    """From the first day on, once the week and the temperature are taken away."""
    weekday_effects = np.array([0.8, 1.0, 1.0, 0.9, 0.6, -1.8, -2.5])
    problem, levels = DailyLoadProblem(memory), []
    for seed in range(1000):
        X, y = problem(40, random_state=seed)
        levels.append(y - weekday_effects[X[:, 1].astype(int)] + 0.8 * X[:, 2])
    levels = np.array(levels)
    assert levels.var(axis=0) == pytest.approx(np.ones(40), abs=0.15)
    assert np.mean(levels[:, 1:] * levels[:, :-1]) == pytest.approx(memory, abs=0.05)


def test_daily_load_has_days_as_rows_in_their_order():
    X, _ = make_daily_load(21, random_state=1)
    assert X[:, 0].tolist() == list(range(21))
    assert X[:, 1].tolist() == [*range(7)] * 3  # from a Monday on
    assert (np.diff(make_daily_load.dates(21)) == np.timedelta64(1, "D")).all()


def test_field_has_the_stated_correlation():
    """Over many draws that of two places is exp(−d / range), and the variance 1."""
    problem = FieldProblem(range=0.3, task="regression")
    products, expected = [], []
    for seed in range(1000):
        X, _ = problem(2, random_state=seed)
        products.append([X[0, 2] * X[1, 2], X[0, 3] * X[1, 3], X[0, 2] ** 2, X[0, 2] * X[0, 3]])
        expected.append(np.exp(-np.hypot(*(X[0, :2] - X[1, :2])) / 0.3))
    a, b, variance, both = np.mean(products, axis=0)
    assert a == pytest.approx(np.mean(expected), abs=0.09)
    assert b == pytest.approx(np.mean(expected), abs=0.09)
    assert variance == pytest.approx(1, abs=0.12)
    assert both == pytest.approx(0, abs=0.09)


def test_field_has_a_target_of_the_stated_variance():
    """Signal 1 and noise: over draws of one row each."""
    problem = FieldProblem(noise=0.5, task="regression")
    y = [problem(1, random_state=seed)[1][0] for seed in range(1000)]
    assert np.var(y) == pytest.approx(1.5, abs=0.15)
    assert problem.bayes_risk == 0.5


def test_field_has_the_bayes_risk_of_the_known_signal():
    """A sign of s against one of s plus noise."""
    rng = np.random.default_rng(0)
    s = rng.normal(size=200_000)
    wrong = (s > 0) != (s + 0.5 * rng.normal(size=200_000) > 0)
    assert make_field.bayes_risk == pytest.approx(wrong.mean(), abs=0.003)


def test_field_has_the_signs_of_its_numbers_as_classes():
    X, y = make_field(50, random_state=3)
    same, numbers = FieldProblem(task="regression")(50, random_state=3)
    np.testing.assert_array_equal(X, same)
    np.testing.assert_array_equal(y, numbers > 0)
    assert tr.datasets.load("field").feature_names == ("east", "north", "a", "b")
    assert FieldProblem(task="regression").bundle().class_names == ()


def test_field_has_places_in_the_square_that_may_cluster():
    """Clustered ones are nearer to each other."""
    apart = []
    for problem in (FieldProblem(), FieldProblem(n_clusters=2)):
        places = problem(300, random_state=1)[0][:, :2]
        assert places.shape == (300, 2)
        assert places.min() >= 0
        assert places.max() <= 1
        distances = np.hypot(*(places[:, None] - places).transpose(2, 0, 1))
        apart.append(np.sort(distances, axis=1)[:, 1].mean())
    assert apart[1] < 0.6 * apart[0]


@pytest.mark.parametrize(
    ("make", "options", "error", "message"),
    [
        *(
            (DailyLoadProblem, {"memory": memory}, BadArgument, "a level remembers a share")
            for memory in (-0.1, 1, "0.5", None)  # with 1 the level would never come back
        ),
        (FieldProblem, {"range": 0}, BadArgument, "range=0"),
        (FieldProblem, {"range": "1"}, BadArgument, "range='1'"),
        (FieldProblem, {"noise": -1}, BadArgument, "noise=-1"),
        (FieldProblem, {"task": "other"}, BadArgument, "other"),
        (FieldProblem, {"n_clusters": 0}, BadArgument, "n_clusters=0"),
        (make_field, {"n_samples": 5001}, BadData, "at 5000 places at most"),
    ],
)
def test_dependent_rows_are_refused_with_what_is_wrong(make, options, error, message):
    with pytest.raises(error, match=message):
        make(**options)
