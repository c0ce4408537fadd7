"""`plan_comparison`: the least rows, their power in simulated comparisons, refusals."""

import numpy as np
import pytest
from scipy.stats import ttest_1samp
from sklearn.datasets import load_wine
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from truerisk.exceptions import BadArgument, Refusal

PLANS = [
    {"difference": 0.02, "disagreement": 0.1},
    {"difference": 0.02, "disagreement": 0.1, "cross_validated": False},
    {"difference": -0.3, "sd": 0.4, "power": 0.95},
    {"difference": 0.05, "sd": 0.5, "confidence_level": 0.99},
    {"difference": 0.01, "sd": 0.5, "power": 0.06},
]


@pytest.mark.parametrize("options", PLANS)
def test_plan_comparison_finds_the_least_rows_with_the_power(options):
    plan, given = tr.plan_comparison(**options), dict(options)
    power = given.pop("power", 0.8)
    assert tr.plan_comparison(**given, n=plan.n - 1).power < power <= plan.power


@pytest.mark.parametrize("options", PLANS)
def test_plan_comparison_of_its_rows_is_the_same_plan(options):
    plan = tr.plan_comparison(**options)
    given = {name: value for name, value in options.items() if name != "power"}
    assert tr.plan_comparison(**given, n=plan.n) == plan


@pytest.mark.parametrize(
    ("difference", "sd", "n", "level"),
    [(0.3, 1.0, 90, 0.95), (-0.5, 1.0, 12, 0.95), (0.02, 0.3, 1500, 0.8), (0.01, 0.5, 20, 0.95)],
)
def test_power_and_half_width_are_those_of_simulated_comparisons(difference, sd, n, level):
    rng = np.random.default_rng(0)
    differences = rng.normal(difference, sd, size=(2000, n))
    interval = ttest_1samp(differences, 0, axis=1).confidence_interval(level)
    share = np.mean((interval.low > 0) | (interval.high < 0))
    plan = tr.plan_comparison(difference, sd=sd, n=n, cross_validated=False, confidence_level=level)
    assert plan.power == pytest.approx(share, abs=0.03)
    assert plan.half_width == pytest.approx(np.mean(interval.high - interval.low) / 2, rel=0.03)


@pytest.mark.parametrize("difference", [0.02, -0.1])
def test_disagreement_gives_the_sd(difference):
    """The differences of zero-one losses are -1, 0 and 1."""
    plan = tr.plan_comparison(difference, disagreement=0.3, cross_validated=False)
    losses = np.repeat(
        [1, -1, 0], np.round([(0.3 + difference) * 500, (0.3 - difference) * 500, 700]).astype(int)
    )
    assert losses.mean() == pytest.approx(difference)
    assert plan.sd == pytest.approx(losses.std())
    assert plan == tr.plan_comparison(difference, sd=plan.sd, cross_validated=False)


def test_half_width_is_that_of_a_cross_validated_comparison_of_labels():
    """The interval counts one more row in each direction, 8 % of the variance here."""
    X, y = load_wine(return_X_y=True)
    models = DecisionTreeClassifier(random_state=0), KNeighborsClassifier()
    a, b = (tr.estimate_risk(m, X[::2], y[::2], cv="10-fold") for m in models)
    comparison = tr.compare(a, b, test="paired-cv")
    plan = tr.plan_comparison(comparison.value, disagreement=np.mean(a.losses != b.losses), n=89)
    assert plan.half_width == pytest.approx(comparison.interval.width / 2, rel=0.007)


def test_cross_validation_needs_nearly_twice_the_rows():
    """The variance is 1.8 times as large, so 1.8 times the rows have the same power."""
    options = {"sd": 0.5, "n": 500}
    test_set = tr.plan_comparison(0.06, **options, cross_validated=False)
    validated = tr.plan_comparison(0.06, **{**options, "n": 900})
    assert validated.power == pytest.approx(test_set.power, abs=1e-12)
    assert validated.half_width == pytest.approx(test_set.half_width, abs=1e-12)


def test_sign_of_the_difference_is_kept_and_changes_nothing_else():
    plan, negative = (tr.plan_comparison(d, sd=0.4) for d in (0.05, -0.05))
    assert (plan.difference, negative.difference) == (0.05, -0.05)
    assert (plan.n, plan.power) == (negative.n, negative.power)


@pytest.mark.parametrize(
    ("difference", "sd", "n", "power"),
    [(1.0, 1e-6, None, 1.0), (1.0, 1e-300, None, 1.0), (1e-9, 1.0, 6, 0.05)],
    ids=["certain", "beyond all rounding", "hopeless"],
)
def test_power_at_its_ends(difference, sd, n, power):
    assert tr.plan_comparison(difference, sd=sd, n=n).power == pytest.approx(power, abs=1e-6)


@pytest.mark.parametrize(
    ("cross_validated", "words"), [(True, "by cross-validation"), (False, "by a test set")]
)
def test_plan_says_how_it_compares(cross_validated, words):
    plan = tr.plan_comparison(0.05, sd=0.4, cross_validated=cross_validated)
    assert str(plan).startswith(f"{plan.n} rows: a difference of 0.0500 is shown {words}")


SD, SHARE = {"sd": 0.5}, {"disagreement": 0.1}


@pytest.mark.parametrize(
    ("difference", "options", "error", "message"),
    [
        (0, SD, BadArgument, "difference=0"),
        (float("nan"), SD, BadArgument, "difference=nan"),
        (float("inf"), SD, BadArgument, "difference=inf"),
        ("0.1", SD, BadArgument, "difference='0.1'"),
        (True, SD, BadArgument, "difference=True"),
        (0.1, {}, BadArgument, "give either sd"),
        (0.1, {**SD, **SHARE}, BadArgument, "give either sd"),
        (0.2, SHARE, BadArgument, "disagreement=0.1: .* between 0.2 and 1"),
        (-0.2, SHARE, BadArgument, "disagreement=0.1: .* between 0.2 and 1"),
        (0.1, {"disagreement": 1.1}, BadArgument, "disagreement=1.1"),
        (0.1, {"disagreement": "all"}, BadArgument, "disagreement='all'"),
        (0.1, {"sd": 0}, BadArgument, "sd=0"),
        (0.1, {"sd": -1}, BadArgument, "sd=-1"),
        (0.1, {"sd": float("inf")}, BadArgument, "sd=inf"),
        (0.1, {"sd": 1e308}, BadArgument, r"sd=1e\+308: .* of 1e\+150 at most"),
        (-1e308, SD, BadArgument, r"difference=-1e\+308: .* of 1e\+150 at most"),
        (0.1, {"sd": "1"}, BadArgument, "sd='1'"),
        (0.1, {**SD, "power": 0}, BadArgument, "power=0"),
        (0.1, {**SD, "power": 1}, BadArgument, "power=1"),
        (0.1, {**SD, "confidence_level": 95}, BadArgument, "confidence_level=95"),
        (0.1, {**SD, "n": 99, "power": 0.9}, BadArgument, "not both"),
        (0.1, {**SD, "cross_validated": "no"}, BadArgument, "True or False"),
        (0.1, {**SD, "n": 10**30}, BadArgument, "1,000,000,000"),
        (1, {"disagreement": 1}, BadArgument, "errs on every row"),
        (0.1, {**SD, "n": 5}, BadArgument, "n=5: .* from 6 to"),
        (0.1, {**SD, "n": 2, "cross_validated": False}, BadArgument, "n=2: .* from 3 to"),
        (0.1, {**SD, "n": 50.5}, BadArgument, "n=50.5"),
        (2e-5, SD, Refusal, "more than 1,000,000,000 rows: the difference 2e-05 is too small"),
    ],
)
def test_plan_comparison_refuses_what_plans_nothing(difference, options, error, message):
    with pytest.raises(error, match=message):
        tr.plan_comparison(difference, **options)
