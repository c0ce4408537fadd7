"""The corrected resampled t test: R's numbers, the interval of an estimate, no spread."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr

# Rscript -e 'options(digits=15); a <- c(.12,.10,.14,.08,.16,.11,.13,.09,.15,.12)
#   b <- c(.15,.13,.14,.12,.18,.10,.17,.13,.16,.14); d <- a-b; se <- sqrt(var(d)*(1/10+10/90))
#   t <- mean(d)/se; cat(mean(d), se, t, 2*pt(-abs(t),9))'
A = np.array([0.12, 0.10, 0.14, 0.08, 0.16, 0.11, 0.13, 0.09, 0.15, 0.12])
B = np.array([0.15, 0.13, 0.14, 0.12, 0.18, 0.10, 0.17, 0.13, 0.16, 0.14])


def test_the_numbers_of_r() -> None:
    """Mean, error, t and p of ten differences of splits of 90 and 10 rows."""
    found = tr.compare(A, B, n_train=90, n_test=10)
    assert found.difference == pytest.approx(-0.022, rel=1e-12)
    assert found.std_error == pytest.approx(0.00804616310676963, rel=1e-12)
    assert found.statistic == pytest.approx(-2.73422247449723, rel=1e-12)
    assert found.p_value == pytest.approx(0.0230646041488309, rel=1e-11)
    assert (found.df, found.n_pairs) == (9, 10)


def test_the_interval_is_the_test_turned_about() -> None:
    """At the level 1 − p the interval of the difference ends at 0."""
    p = tr.compare(A, B, n_train=90, n_test=10).p_value
    interval = tr.compare(A, B, n_train=90, n_test=10, confidence_level=1 - p).interval
    assert interval.high == pytest.approx(0, abs=1e-9)
    assert interval.method == "corrected-t"


def test_it_is_the_interval_of_an_estimate() -> None:
    """Against a rule without any loss it is the corrected t of repeated cross-validation."""
    X, y = tr.datasets.make_simple(60, random_state=0)
    est = tr.estimate_risk(KNeighborsClassifier(), X, y, method="4x3-fold")
    found = tr.compare(est.split_risks, np.zeros(12), n_train=40, n_test=20)
    assert found.std_error == pytest.approx(est.std_error, rel=1e-12)


def test_the_correlation_matters() -> None:
    """More training rows per test row make the same differences surer, and it is said."""
    wide = tr.compare(A, B, n_train=50, n_test=50)
    narrow = tr.compare(A, B, n_train=99, n_test=1)
    assert wide.std_error == pytest.approx(narrow.std_error * np.sqrt(1.1 / (0.1 + 1 / 99)))
    assert "ρ = n_test/(n_train + n_test) = 0.5" in wide.assumed[0]


def test_equal_differences_have_no_p_value() -> None:
    """Without spread over splits nothing is known of the error: None and a note."""
    found = tr.compare(A, A - 0.01, n_train=90, n_test=10)
    assert found.difference == pytest.approx(0.01)
    assert (found.p_value, found.std_error, found.interval) == (None, None, None)
    assert "same difference" in found.notes[0]


def test_its_size_is_kept_under_overlap() -> None:
    """Of two equal rules on random splits it rejects in about 5 %, where a plain t does in 40 %."""
    rng = np.random.default_rng(0)
    rejected = np.zeros(2)
    for _ in range(400):
        a, b = rng.random((2, 60)) < 0.3
        tests = np.array([rng.permutation(60)[:20] for _ in range(15)])
        d = (a[tests].mean(axis=1), b[tests].mean(axis=1))
        found = tr.compare(*d, n_train=40, n_test=20)
        plain = abs(found.difference) / (np.std(d[0] - d[1], ddof=1) / np.sqrt(15))
        rejected += (found.p_value < 0.05, plain > 2.1448)
    assert rejected[0] / 400 < 0.08
    assert rejected[1] / 400 > 0.3


@pytest.mark.parametrize("unit", [1e-13, 1e9])
@pytest.mark.parametrize("test", ["nadeau-bengio", "5x2"])
def test_the_unit_of_the_losses_does_not_count(unit, test) -> None:
    """The same statistic; and differences that are rounding alone are no spread in any unit."""
    sizes = {"n_train": 90, "n_test": 90 if test == "5x2" else 10, "test": test}
    usual, other = (tr.compare(u * A, u * B, **sizes) for u in (1.0, unit))
    assert other.statistic == pytest.approx(usual.statistic)
    alike = tr.compare(unit * A, unit * A * (1 + np.arange(10) * 1e-16), **sizes)
    assert alike.p_value is None
