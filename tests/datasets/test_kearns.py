"""Kearns' problem has the risks that it states."""

from __future__ import annotations

import numpy as np
import pytest

from truerisk.core.errors import BadData
from truerisk.datasets import KearnsProblem, make_kearns
from truerisk.models import IntervalClassifier


def test_labels_alternate_and_a_share_is_wrong() -> None:
    """Without noise the labels are the target; with noise .2 a fifth of them is not."""
    X, y = make_kearns.with_noise(0)(1000, random_state=1)
    np.testing.assert_array_equal(y, np.floor(10 * X[:, 0]).astype(int) % 2)
    X, y = make_kearns(20_000, random_state=2)
    wrong = (y != make_kearns.bayes_rule(X)).mean()
    assert abs(wrong - 0.2) < 3.5 * np.sqrt(0.16 / 20_000)


def test_a_seed_gives_one_draw() -> None:
    """The same seed, the same rows."""
    np.testing.assert_array_equal(
        make_kearns(9, random_state=3)[0], make_kearns(9, random_state=3)[0]
    )


def test_the_target_has_the_bayes_risk() -> None:
    """Right everywhere costs the noise, wrong everywhere 1 − noise, a constant one half."""
    ends, labels = np.arange(1, 10) / 10, np.arange(10) % 2
    assert make_kearns.true_risk_intervals(ends, labels) == pytest.approx(0.2)
    assert make_kearns.true_risk_intervals(ends, 1 - labels) == pytest.approx(0.8)
    assert make_kearns.true_risk_intervals([], [0]) == pytest.approx(0.5)
    assert make_kearns.bayes_risk == 0.2


def test_the_risk_of_a_fitted_rule_is_exact() -> None:
    """It equals the measured risk of the same rule, up to the error of the measurement."""
    X, y = make_kearns(60, random_state=4)
    rule = IntervalClassifier(k=12).fit(X, y)
    exact = make_kearns.true_risk(rule)
    measured = make_kearns.true_risk(rule.predict)
    assert exact.std_error == 0
    assert abs(exact.value - measured.value) < 3.5 * measured.std_error


def test_shares_add_up() -> None:
    """The cells share the ones of the target: half of [0, 1]; ends outside count to its edge."""
    ends = np.sort(np.random.default_rng(5).random(30))
    assert make_kearns.share_of_ones(ends).sum() == pytest.approx(0.5)
    assert make_kearns.share_of_ones([0.05, 0.15, 0.25]) == pytest.approx([0, 0.05, 0.05, 0.4])
    assert make_kearns.share_of_ones([-1, 2]) == pytest.approx([0, 0.5, 0])


def test_odd_numbers_of_intervals_end_with_a_zero() -> None:
    """Three intervals: 0, 1, 0; x = 1 belongs to the last."""
    three = KearnsProblem(noise=0, n_intervals=3)
    assert three.target([0, 0.5, 1]).tolist() == [0, 1, 0]
    assert three.true_risk_intervals([1 / 3, 2 / 3], [0, 1, 0]) == pytest.approx(0)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (lambda: KearnsProblem(noise=0.6), "no share of wrong labels"),
        (lambda: KearnsProblem(n_intervals=0), "at least one interval"),
        (lambda: make_kearns(0), "n_samples=0: a whole number"),
        (lambda: make_kearns.true_risk_intervals([0.5], [0]), "make 2 intervals"),
        (lambda: make_kearns.true_risk_intervals([0.5], [0, 2]), "0 or 1"),
        (lambda: make_kearns.true_risk_intervals([0.5, 0.1], [0, 1, 0]), "ascending"),
    ],
)
def test_what_makes_no_sense_is_refused(wrong, sentence) -> None:
    """One sentence says what is wrong."""
    with pytest.raises(BadData, match=sentence):
        wrong()
