"""Thresholds: what each does, and which one a cost or a demanded rate asks for."""

import numpy as np
import pytest

from truerisk.exceptions import UnknownName
from truerisk.extend import BadData, Refusal
from truerisk.results.operating_points import ThresholdCounts, check_rate

RNG = np.random.default_rng(1)
SCORES = np.round(RNG.normal(size=60), 1)
POSITIVE = SCORES + RNG.normal(size=60) > 0
SWEEP = ThresholdCounts.from_scores(SCORES, POSITIVE)
EVERY = [np.inf, *sorted(set(SCORES), reverse=True)]


def counts(threshold):
    """True and false positives of `score >= threshold`, counted."""
    called = threshold <= SCORES
    return (called & POSITIVE).sum(), (called & ~POSITIVE).sum()


def test_sweep_counts_every_threshold():
    """One threshold per distinct score and one above all; any other one can be asked about."""
    assert SWEEP.thresholds.tolist() == EVERY
    found = list(zip(SWEEP.true_positives, SWEEP.false_positives, strict=True))
    assert found == [counts(t) for t in EVERY]
    for threshold in (-9.0, -0.3, 0.05, 0.1, 9.0, np.inf, -np.inf):
        point = SWEEP.operating_point_at(threshold)
        assert (point.true_positives, point.false_positives) == counts(threshold)
        assert point.threshold == threshold
        assert point.error == ((threshold <= SCORES) != POSITIVE).mean()


def test_precision_is_none_where_nothing_is_called_positive():
    point = SWEEP.operating_point_at(np.inf)
    assert point.precision is None
    said = "threshold inf (given): sensitivity 0.0000, specificity 1.0000, precision –"
    assert str(point) == said
    assert point.to_dict()["threshold"] == "inf"


@pytest.mark.parametrize("costs", [(1, 1), (1, 5), (7, 1), (0, 1), (1, 0)])
@pytest.mark.parametrize("prevalence", [None, 0.01, 0.6])
def test_sweep_at_cost_finds_the_least_cost_at_the_highest_threshold(costs, prevalence):
    """No threshold costs less, counted row by row, and no higher one costs as little."""
    point = SWEEP.at_cost(*costs, prevalence)
    n1, n0 = POSITIVE.sum(), (~POSITIVE).sum()
    share = n1 / (n1 + n0) if prevalence is None else prevalence
    every = []
    for t in EVERY:
        tp, fp = counts(t)
        every.append(share * costs[1] * (n1 - tp) / n1 + (1 - share) * costs[0] * fp / n0)
    assert point.cost == pytest.approx(min(every), abs=1e-14)
    above = [c for c, t in zip(every, EVERY, strict=True) if t > point.threshold]
    assert not above or min(above) > point.cost - 1e-14
    # Calling nobody, or the two highest, errs once: nobody is called.
    sweep = ThresholdCounts.from_scores(np.array([3.0, 2.0]), np.array([False, True]))
    assert sweep.at_cost(1, 1).threshold == np.inf


@pytest.mark.parametrize("rate", [0.0, 0.2, 0.5, 0.9, 1.0])
def test_sweep_at_rate_meets_a_rate_at_the_least_price(rate):
    """Sensitivity with the fewest false positives, specificity with the most true ones."""
    table = np.array([counts(t) for t in EVERY])
    tpr, fpr = table[:, 0] / POSITIVE.sum(), table[:, 1] / (~POSITIVE).sum()
    sensitive, specific = SWEEP.at_rate({"sensitivity": rate}), SWEEP.at_rate({"specificity": rate})
    assert sensitive.sensitivity >= rate
    assert sensitive.false_positives == table[tpr >= rate, 1].min()
    assert specific.specificity >= rate
    assert specific.true_positives == table[1 - fpr >= rate - 1e-12, 0].max()
    exact = ThresholdCounts.from_scores(np.arange(20.0), np.tile([True, False], 10))
    assert exact.at_rate({"sensitivity": 0.7}).sensitivity == 0.7
    assert exact.at_rate({"specificity": 0.9}).specificity == 0.9


def test_sweep_at_rate_meets_a_precision_or_names_the_best():
    point = SWEEP.at_rate({"precision": 0.8})
    assert point.precision >= 0.8
    table = np.array([counts(t) for t in EVERY[1:]])
    good = table[:, 0] / table.sum(axis=1) >= 0.8
    assert point.true_positives == table[good, 0].max()
    worst_first = ThresholdCounts.from_scores(
        np.array([3.0, 2.0, 1.0]), np.array([False, True, True])
    )
    with pytest.raises(Refusal, match=r"precision of 0\.9: the best is 0\.6667"):
        worst_first.at_rate({"precision": 0.9})


def test_sweep_counts_rows_by_weight():
    weights = np.ones(60)
    weights[::3] = 2
    twice = np.repeat(np.arange(60), weights.astype(int))
    copied = ThresholdCounts.from_scores(SCORES[twice], POSITIVE[twice])
    weighted = ThresholdCounts.from_scores(SCORES, POSITIVE, weights)
    np.testing.assert_array_equal(copied.true_positives, weighted.true_positives)
    np.testing.assert_array_equal(copied.false_positives, weighted.false_positives)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: SWEEP.operating_point_at(np.nan), BadData, "NaN"),
        (lambda: SWEEP.at_cost(-1, 1), BadData, "false positive costs -1"),
        (lambda: SWEEP.at_cost(1, np.inf), BadData, "false negative costs inf"),
        (lambda: SWEEP.at_cost(0, 0), BadData, "neither error costs"),
        (lambda: SWEEP.at_cost(1, 1, 1.0), BadData, "prevalence 1.0"),
        (lambda: check_rate({}), UnknownName, "given: none"),
        (lambda: check_rate({"sensitivity": 1, "precision": 1}), UnknownName, "demand one rate"),
        (lambda: check_rate({"recall": 1}), UnknownName, "given: recall"),
        (lambda: SWEEP.at_cost("1", 1), BadData, "false positive costs '1'"),
        (lambda: SWEEP.at_cost(1, 1, "0.2"), BadData, "prevalence '0.2'"),
        (lambda: check_rate({"precision": 95}), BadData, "precision=95 is no rate"),
        (lambda: check_rate({"precision": ".9"}), BadData, "precision='.9' is no rate"),
    ],
)
def test_sweep_refuses_impossible_demands(call, error, message):
    with pytest.raises(error, match=message):
        call()
