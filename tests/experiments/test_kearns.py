"""Everything about a line of labelled points equals the interval model, refitted."""

from __future__ import annotations

import numpy as np
import pytest

from truerisk.datasets import KearnsProblem
from truerisk.experiments.experiment import stream
from truerisk.experiments.kearns import (
    AT,
    BEYOND,
    BIAS,
    NOISE,
    TARGET,
    Trial,
    _beyond_target,
    kearns_trial,
)
from truerisk.experiments.statements import Claim
from truerisk.models import IntervalClassifier

X = np.array([1.0, 2, 4, 8, 13, 21, 31, 45, 66])
Y = np.array([0, 0, 1, 0, 1, 1, 0, 1, 1])
KS = range(1, 7)
PROBLEM = KearnsProblem()


def fitted(x, y, k):
    return IntervalClassifier(k=k).fit(x[:, None], y)


def flipped(y, i):
    other = y.copy()
    other[i] = 1 - other[i]
    return other


@pytest.fixture(params=[0, 1, 2])
def points(request):
    rng = np.random.default_rng(request.param)
    x = np.sort(rng.random(17))
    return x, rng.integers(0, 2, 17)


def test_the_golden_errors():
    """Least errors of the golden set for k = 1 ... 5."""
    assert (9 * Trial(PROBLEM, X, Y, range(1, 6)).apparent).tolist() == pytest.approx(
        [4, 2, 2, 1, 1]
    )


def test_labels_shares_and_sizes_are_the_model_s(points):
    """The rule itself, and what stands in the interval of each point."""
    x, y = points
    line = Trial(PROBLEM, x, y, KS)
    for row, k in enumerate(KS):
        model = fitted(x, y, k)
        np.testing.assert_array_equal(line.labels[row], model.predict(x[:, None]))
        counted, ones = line.intervals
        shares = model.predict_proba(x[:, None])[:, 1]
        np.testing.assert_allclose(ones[row] / counted[row], shares)
        sizes = model.counts_.sum(axis=1)[model.apply(x[:, None])]
        np.testing.assert_array_equal(counted[row], sizes)


def test_points_left_out_are_refitted(points):
    """Every point, without its own row."""
    x, y = points
    left_out = Trial(PROBLEM, x, y, KS).left_out
    for row, k in enumerate(KS):
        for i in range(len(x)):
            rest = np.arange(len(x)) != i
            assert left_out[row, i] == fitted(x[rest], y[rest], k).predict(x[[i], None])[0]


def test_swaps_are_refitted(points):
    """phi(x | 1) − phi(x | 0), with the label of the point set to each."""
    x, y = points
    line = Trial(PROBLEM, x, y, KS)
    for row, k in enumerate(KS):
        for i in range(len(x)):
            own = fitted(x, y, k).predict(x[[i], None])[0]
            other = fitted(x, flipped(y, i), k).predict(x[[i], None])[0]
            sign = 1 if y[i] == 1 else -1
            assert line.swaps[row, i] == sign * (int(own) - int(other))


def test_the_penalty_is_its_formula():
    """(2/n) sum p(1−p) of the swaps; at n0 = infinity every p is one half."""
    line = Trial(PROBLEM, X, Y, KS)
    sizes, ones = line.intervals
    p = (ones + 5) / (sizes + 10)
    expected = 2 / 9 * (p * (1 - p) * line.swaps).sum(axis=1)
    np.testing.assert_allclose(line.penalty(), expected)
    np.testing.assert_allclose(line.penalty(1e15), 0.5 * line.swaps.mean(axis=1))
    np.testing.assert_allclose(line.criterion(), line.apparent + expected)


def test_points_stand_from_the_left():
    """A draw is sorted, and each label goes with its point."""
    drawn = Trial.of(PROBLEM, 30, KS, np.random.default_rng(1))
    drawn_x, y = PROBLEM(30, random_state=np.random.default_rng(1))
    assert (np.diff(drawn.x) > 0).all()
    assert dict(zip(drawn.x, drawn.y, strict=True)) == dict(zip(drawn_x[:, 0], y, strict=True))


def test_risks_are_exact():
    """True risk by the lengths, conditional risk by the points, as for the fitted model."""
    problem = KearnsProblem(noise=0.3)
    drawn = Trial.of(problem, 40, [1, 3, 10, 25], np.random.default_rng(3))
    for row, k in enumerate([1, 3, 10, 25]):
        model = fitted(drawn.x, drawn.y, k)
        assert drawn.true[row] == pytest.approx(problem.true_risk(model).value)
        wrong = (model.predict(drawn.x[:, None]) != problem.target(drawn.x)).mean()
        assert drawn.conditional[row] == pytest.approx(0.3 + 0.4 * wrong)


def test_a_trial_depends_on_what_it_is_named_by():
    """Noise, size, seed and number; k ends at the number of points."""
    first = kearns_trial(0.2, 20, 0, 1)
    assert len(first.true) == 20
    np.testing.assert_array_equal(first.x, kearns_trial(0.2, 20, 0, 1).x)
    assert not np.array_equal(first.x, kearns_trial(0.1, 20, 0, 1).x)
    assert not np.array_equal(first.x, kearns_trial(0.2, 20, 0, 2).x)


def test_what_the_document_says_of_the_bias_holds(findings_of):
    """Nearly parallel; over, more over; about equal and under are beyond 60 trials."""
    claims = findings_of("kearns-figure-1").claims
    verdicts = [claim.verdict for claim in claims if "any η" not in claim.text]
    assert verdicts[1:3] == ["holds"] * 2
    assert "does not hold" not in verdicts
    near = claims[4].quantities[0]
    assert near.claim == Claim("near", 0.0, 0.02)


def test_risks_beyond_the_target_are_those_of_a_trial():
    """The same points by what swapping needs, too, from k = d to 2d."""
    problem, ks = KearnsProblem(noise=0.3, n_intervals=20), [int(20 * by) for by in BEYOND]
    drawn = Trial.of(problem, 80, ks, stream("kearns 0.3 80 20", 5, 2))
    by_name = drawn.apparent, drawn.conditional, drawn.true
    assert _beyond_target(20, 80, 0.3, 5, 2) == pytest.approx(np.array(by_name))


def test_one_quantity_has_one_reference():
    """The bias of one table is the difference of two risks of the other."""
    apparent, conditional, _ = AT[TARGET]
    assert BIAS[NOISE][1] == pytest.approx(conditional - apparent)


def test_the_document_prints_no_numbers(findings_of):
    """Ours stand alone."""
    (table,) = findings_of("kearns-figure-2").tables
    assert {row.verdict for row in table.rows} == {"not printed"}
