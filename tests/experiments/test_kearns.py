"""Trials on a line equal the interval model, refitted; choices of Figure 3."""

import numpy as np
import pytest
from tests.support.data import NINE

from truerisk.datasets import KearnsProblem
from truerisk.experiments.experiment import replicate_rng
from truerisk.experiments.kearns import (
    NOISE,
    RELATIVE_KS,
    Trial,
    _risks_beyond_target,
    draw_kearns_trial,
    kearns_figure_1,
)
from truerisk.experiments.kearns_figure_3 import (
    LOO,
    LOO_LARGEST_K,
    MANY_INTERVALS,
    ORACLE,
    RULE_NAMES,
    S,
    kearns_figure_3,
    percent_gain,
)
from truerisk.models import IntervalClassifier

X, Y = NINE[0][:, 0], NINE[1]
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


def test_trial_labels_shares_and_sizes_are_those_of_the_model(points):
    x, y = points
    line = Trial(PROBLEM, x, y, KS)
    for row, k in enumerate(KS):
        model = fitted(x, y, k)
        np.testing.assert_array_equal(line.labels[row], model.predict(x[:, None]))
        counted, ones = line.interval_counts
        shares = model.predict_proba(x[:, None])[:, 1]
        np.testing.assert_allclose(ones[row] / counted[row], shares)
        sizes = model.counts_.sum(axis=1)[model.apply(x[:, None])]
        np.testing.assert_array_equal(counted[row], sizes)


def test_trial_left_out_is_that_of_refitted_models(points):
    x, y = points
    left_out = Trial(PROBLEM, x, y, KS).leave_one_out_labels
    for row, k in enumerate(KS):
        for i in range(len(x)):
            rest = np.arange(len(x)) != i
            assert left_out[row, i] == fitted(x[rest], y[rest], k).predict(x[[i], None])[0]


def test_trial_swaps_are_those_of_refitted_models(points):
    x, y = points
    line = Trial(PROBLEM, x, y, KS)
    for row, k in enumerate(KS):
        for i in range(len(x)):
            own = fitted(x, y, k).predict(x[[i], None])[0]
            other = fitted(x, flipped(y, i), k).predict(x[[i], None])[0]
            sign = 1 if y[i] == 1 else -1
            assert line.prediction_changes[row, i] == sign * (int(own) - int(other))


def test_trial_errors_and_penalty_are_their_formulas():
    errors = 9 * Trial(PROBLEM, X, Y, range(1, 6)).empirical_error
    assert errors.tolist() == pytest.approx([4, 2, 2, 1, 1])
    line = Trial(PROBLEM, X, Y, KS)
    sizes, ones = line.interval_counts
    p = (ones + 5) / (sizes + 10)
    expected = 2 / 9 * (p * (1 - p) * line.prediction_changes).sum(axis=1)
    np.testing.assert_allclose(line.penalty(), expected)
    np.testing.assert_allclose(line.penalty(1e15), 0.5 * line.prediction_changes.mean(axis=1))
    np.testing.assert_allclose(line.criterion(), line.empirical_error + expected)


def test_trial_points_stand_from_the_left():
    drawn = Trial.draw(PROBLEM, 30, KS, np.random.default_rng(1))
    drawn_x, y = PROBLEM(30, random_state=np.random.default_rng(1))
    assert (np.diff(drawn.x) > 0).all()
    assert dict(zip(drawn.x, drawn.y, strict=True)) == dict(zip(drawn_x[:, 0], y, strict=True))


def test_trial_risks_are_exact():
    problem = KearnsProblem(noise=0.3)
    drawn = Trial.draw(problem, 40, [1, 3, 10, 25], np.random.default_rng(3))
    for row, k in enumerate([1, 3, 10, 25]):
        model = fitted(drawn.x, drawn.y, k)
        assert drawn.true_risk[row] == pytest.approx(problem.true_risk(model).value)
        wrong = (model.predict(drawn.x[:, None]) != problem.target(drawn.x)).mean()
        assert drawn.conditional_risk[row] == pytest.approx(0.3 + 0.4 * wrong)


def test_kearns_risks_beyond_the_target_are_those_of_a_trial():
    problem, ks = KearnsProblem(noise=0.3, n_intervals=20), [int(20 * by) for by in RELATIVE_KS]
    drawn = Trial.draw(problem, 80, ks, replicate_rng("kearns 0.3 80 20", 5, 2))
    by_name = drawn.empirical_error, drawn.conditional_risk, drawn.true_risk
    assert _risks_beyond_target(20, 80, 0.3, 5, 2) == pytest.approx(np.array(by_name))


def test_kearns_plug_in_and_signs_are_those_of_a_trial():
    """S is computed again without shrinkage; the signs of the changes at every k are counted."""
    drawn, draws = draw_kearns_trial(NOISE, 100, 3, 1), kearns_figure_1.replicate(3, 1)
    assert draws["signs"].tolist() == [
        (drawn.prediction_changes > 0).sum(), (drawn.prediction_changes < 0).sum(),
    ]  # fmt: skip
    sizes, ones = drawn.interval_counts
    plug_in = 2 * (ones / sizes * (1 - ones / sizes) * drawn.prediction_changes).mean(axis=1)
    assert draws["S, n0 = 0"] == pytest.approx(plug_in)
    few = Trial.draw(PROBLEM, 40, [25], replicate_rng("kearns plug-in 40", 3, 1))
    left = few.conditional_risk - few.empirical_error - few.penalty(0)
    assert draws["unexplained"][0] == pytest.approx(left[0])


def test_kearns_choices_are_the_least_of_their_curves():
    draw = kearns_figure_3.replicate(0, 0)
    drawn = draw_kearns_trial(0.2, 100, 0, 0)
    loo, k = drawn.leave_one_out_error, draw["k"][1, 1]
    assert k[ORACLE] == drawn.true_risk.argmin() + 1
    assert k[LOO] == loo.argmin() + 1
    assert k[LOO_LARGEST_K] == len(loo) - loo[::-1].argmin()
    assert k[S] == drawn.criterion().argmin() + 1
    np.testing.assert_allclose(draw["true"][1, 1], drawn.true_risk[k.astype(int) - 1])
    assert draw["estimate"][1, 1, LOO] == pytest.approx(loo.min())
    many = draw_kearns_trial(0.3, 500, 0, 0, MANY_INTERVALS)
    by_loo = many.true_risk[many.leave_one_out_error.argmin()]
    assert (len(many.ks), draw["true, d = 100"][2, LOO]) == (200, by_loo)
    assert (draw["true"] >= draw["true"][..., [ORACLE]]).all()


def test_kearns_gain_is_a_ratio_of_means():
    true = np.full((4, len(RULE_NAMES)), 0.3)
    true[:, ORACLE], true[:, S] = 0.1, 0.2
    assert percent_gain(true, LOO) == (pytest.approx(50), pytest.approx(0, abs=1e-9))
