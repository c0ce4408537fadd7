"""`plan_sample`: rows for a width, rows shared by a learning curve, refusals."""

from dataclasses import replace

import pytest
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr
from truerisk.exceptions import UnknownName
from truerisk.extend import BadArgument, BadData, Refusal
from truerisk.statistics.sample_size import expected_posterior_summary

CURVE = {30: 0.25, 60: 0.21, 150: 0.19}


def test_plan_sample_finds_the_least_rows_whose_interval_is_narrow_enough():
    plan = tr.plan_sample(0.15, width=0.05)
    n = plan.n_test
    assert plan.interval == tr.ErrorPosterior(117, n).interval()
    assert plan.interval.width <= 0.05 < tr.ErrorPosterior(117, n - 1).interval().width
    assert (n, plan.n_errors, plan.n_assured, plan.assurance) == (782, 117, 850, 0.9)
    assert plan.splits == ()


def test_plan_sample_uses_the_level_and_the_prior():
    """A lower level or a surer prior needs fewer rows."""
    plain = tr.plan_sample(0.15, width=0.1).n_test
    assert tr.plan_sample(0.15, width=0.1, confidence_level=0.8).n_test < plain / 2
    assert tr.plan_sample(0.15, width=0.1, prior=(15, 85)).n_test < plain - 80


def test_plan_sample_compares_every_way_to_share_and_marks_the_best():
    """(50 %) tests the most rows, (err) none more than it must, (ub) and (q2) in between."""
    plan = tr.plan_sample(CURVE, n=180, width=0.2)
    assert [s.n_tuning for s in plan.splits] == list(range(30, 151))
    assert all(s.n_tuning + s.n_test == 180 for s in plan.splits)
    third = plan.splits[30]
    told = expected_posterior_summary(0.21, 120, 0.95, (1, 1))
    assert (third.n_tuning, third.error) == (60, pytest.approx(0.21))
    assert (third.ub, third.q2) == pytest.approx((told["ub"], told["q2"]))
    for name, best in plan.best_by.items():
        assert getattr(best, name) == min(getattr(s, name) for s in plan.splits)
    assert plan.best == plan.best_by["ub"]
    order = [plan.best_by[name].n_test for name in ("above_half", "ub", "q2", "err")]
    assert order == sorted(set(order), reverse=True)
    assert plan.best_by["err"].n_tuning == 150
    lines = str(plan).splitlines()
    assert lines[0].startswith(f"{plan.n_test} test rows: after the {plan.n_errors} errors")
    assert any(line.endswith("<- least ub") for line in lines)


def test_plan_sample_takes_errors_as_linear_in_one_over_the_rows():
    """Between the sizes; at the sizes as given; beyond them nothing is invented."""
    splits = {s.n_tuning: s for s in tr.plan_sample({20: 0.3, 80: 0.2}, n=500).splits}
    assert splits[40].error == pytest.approx(0.2 + 0.1 * (1 / 40 - 1 / 80) / (1 / 20 - 1 / 80))
    assert (min(splits), max(splits)) == (20, 80)
    assert len(tr.plan_sample({20: 0.3, 900: 0.2}, n=1000).splits) <= 400


def test_plan_sample_of_a_single_error_leaves_tuning_the_rows_not_tested():
    """None where the width takes all, and a note says so."""
    plan = tr.plan_sample(0.15, width=0.05, n=1000)
    assert (plan.best.n_test, plan.best.n_tuning) == (782, 218)
    none = tr.plan_sample(0.15, width=0.05, n=300)
    assert none.best is None
    assert "none is left to tune on" in none.notes[0]
    assert "nested cross-validation" in none.notes[1]


@pytest.mark.parametrize(
    ("error", "options", "kind", "message"),
    [
        (0.15, {}, UnknownName, "say what to plan"),
        (1.5, {"width": 0.1}, BadData, "share between 0 and 1"),
        (float("nan"), {"width": 0.1}, BadData, "share between 0 and 1"),
        ({}, {"width": 0.1}, BadData, "share between 0 and 1"),
        (None, {"width": 0.1}, BadData, "share between 0 and 1"),
        ([0.1, 0.2], {"width": 0.1}, BadData, "share between 0 and 1"),
        (0.15, {"width": "x"}, BadData, "width='x'"),
        (0.15, {"width": 0.1, "confidence_level": "x"}, BadArgument, "between 0 and 1"),
        ({0: 0.1}, {"n": 10}, BadData, "numbers of training rows"),
        ({"30": 0.1}, {"n": 10}, BadData, "numbers of training rows"),
        (0.15, {"width": 0}, BadData, "width=0"),
        (0.15, {"width": 0.1, "n": 1}, BadData, "n=1"),
        (0.15, {"n": 100}, Refusal, "does not say what tuning gains"),
        (CURVE, {"n": 30}, Refusal, "known from 30 training rows on"),
        (0.15, {"width": 0.1, "confidence_level": 95}, BadArgument, "between 0 and 1"),
        (0.15, {"width": 0.1, "assurance": 0.1}, UnknownName, "assurance=0.1"),
        (0.15, {"width": 0.1, "prior": (0, 1)}, BadData, "no Beta prior"),
    ],
)
def test_plan_sample_refuses_what_plans_nothing(error, options, kind, message):
    with pytest.raises(kind, match=message):
        tr.plan_sample(error, **options)


# ---------------- planned by a learning curve


def curve_of(loss):
    X, y = tr.datasets.make_difficult(100, random_state=0)
    return tr.learning_curve(KNeighborsClassifier(3), X, y, scoring=loss, sizes=[12, 24, 45, 80])


@pytest.fixture(scope="module")
def curve():
    return curve_of("zero-one")


def test_plan_sample_by_a_curve_says_what_to_expect_of_all_rows(curve):
    """With its band at the level asked for; the law gives the error of each split."""
    plan = tr.plan_sample(curve, n=300, confidence_level=0.9)
    assert plan.expected == replace(curve, confidence_level=0.9).at(300)
    assert str(plan).splitlines()[0] == str(plan.expected)
    assert plan.to_dict()["expected"]["n_train"] == 300
    assert [plan.splits[0].n_tuning, plan.splits[-1].n_tuning] == [12, 299]
    third = plan.splits[100]
    assert third.error == pytest.approx(curve.law.mean(third.n_tuning), rel=0.01)
    width = tr.plan_sample(curve, width=0.1)
    assert width.expected is None
    assert width.error[80] == curve.law.mean(80)
    assert width.n_test == tr.plan_sample(curve.law.mean(80), width=0.1).n_test


def test_plan_sample_tunes_on_no_more_rows_than_the_curve_reaches(curve):
    """Four times the measured ones; with more rows none is expected."""
    plan = tr.plan_sample(curve, n=1000)
    assert plan.expected is None
    assert plan.splits[-1].n_tuning == 320
    assert "the curve predicts errors for up to 320 rows" in plan.notes[-1]


def test_plan_sample_refuses_curves_of_another_loss_or_without_a_law(curve):
    with pytest.raises(Refusal, match="is in 'auc', and tests are planned for the share of errors"):
        tr.plan_sample(curve_of("auc"), n=300)
    with pytest.raises(Refusal, match="no law to plan by: it rises"):
        tr.plan_sample(replace(curve, lacking="it rises"), n=300)
