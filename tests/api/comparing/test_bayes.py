"""The correlated Bayesian t test: R's probabilities, the region of equivalence, no spread."""

from __future__ import annotations

import numpy as np
import pytest

import truerisk as tr

# Rscript -e 'options(digits=15); a <- c(.12,.10,.14,.08,.16,.11,.13,.09,.15,.12)
#   b <- c(.15,.13,.14,.12,.18,.10,.17,.13,.16,.14); d <- a-b; m <- mean(d)
#   se <- sqrt(var(d)*(1/10+10/90)); l <- pt((-.01-m)/se,9); r <- pt((.01-m)/se,9,lower=FALSE)
#   cat(l, 1-l-r, r)'
A = np.array([0.12, 0.10, 0.14, 0.08, 0.16, 0.11, 0.13, 0.09, 0.15, 0.12])
B = np.array([0.15, 0.13, 0.14, 0.12, 0.18, 0.10, 0.17, 0.13, 0.16, 0.14])


def bayes(**options):
    return tr.compare(A, B, test="bayes", n_train=90, n_test=10, **options)


def test_the_numbers_of_r() -> None:
    """P(better), P(equivalent), P(worse) for a region of ± .01."""
    expected = 0.914974123010596, 0.0834158160047518, 0.00161006098465252
    found = bayes()
    assert tuple(found.probabilities.values()) == pytest.approx(expected, rel=1e-11)
    assert sum(found.probabilities.values()) == pytest.approx(1, abs=1e-15)
    assert found.p_value is None
    assert found.rope == 0.01


def test_without_a_region_it_is_half_of_the_t_test() -> None:
    """At rope 0 P(worse) is half the p-value of Nadeau and Bengio, and nothing is equivalent."""
    found = bayes(rope=0)
    p = tr.compare(A, B, n_train=90, n_test=10).p_value
    assert found.worse == pytest.approx(p / 2, rel=1e-10)
    assert found.equivalent == pytest.approx(0, abs=1e-15)


def test_turned_about_better_is_worse() -> None:
    """With b against a it has the same numbers the other way."""
    turned = tr.compare(B, A, test="bayes", n_train=90, n_test=10)
    assert turned.better == pytest.approx(bayes().worse, rel=1e-9)
    assert turned.worse == pytest.approx(bayes().better, rel=1e-12)


def test_the_interval_is_of_the_posterior() -> None:
    """Within its own interval taken as the region lies 95 % of the posterior."""
    found = bayes()
    half = found.interval.width / 2
    centred = tr.compare(A - B.mean(), A - A.mean(), test="bayes", n_train=90, n_test=10)
    assert centred.interval is None  # equal differences have no spread
    shifted = tr.compare(A - found.difference, B, test="bayes", n_train=90, n_test=10, rope=half)
    assert shifted.equivalent == pytest.approx(0.95, abs=1e-9)


def test_equal_differences_have_no_posterior() -> None:
    """Without spread the posterior is a point by its prior alone: None and a note."""
    found = tr.compare(A, A, test="bayes", n_train=90, n_test=10)
    assert found.probabilities is None
    assert "same difference" in found.notes[0]
