"""The infinitesimal jackknife is the derivative of Err₁ by the weights of the rows."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from truerisk.methods.parts.infinitesimal_jackknife import directions, jackknife_error

N = 4
ALL = np.array(list(product(range(N), repeat=N)))  # every ordered sample
TIMES = np.stack([(row == np.arange(N)[:, None]).sum(axis=1) for row in ALL])
LOSSES = np.random.default_rng(0).uniform(size=(len(ALL), N))


def same_for_equal_samples() -> np.ndarray:
    """A model depends on what a sample holds, not on its order."""
    _, first = np.unique(TIMES, axis=0, return_inverse=True)
    return LOSSES[first.ravel()]


def leave_one_out_bootstrap(shares: np.ndarray, losses: np.ndarray) -> float:
    """Err₁ where row i is drawn with probability `shares[i]` and counts as much."""
    likely = np.prod(shares[ALL], axis=1)
    missed = TIMES == 0
    of_rows = (likely @ (losses * missed)) / (likely @ missed)
    return float(shares @ of_rows)


def test_directions_are_derivatives() -> None:
    """D_i is the derivative of Err₁ towards row i, divided by n, over all 256 samples of 4 rows."""
    losses, missed = same_for_equal_samples(), TIMES == 0
    of_rows = (losses * missed).sum(axis=0) / missed.sum(axis=0)
    asked = missed.any(axis=1)
    of_samples = (losses * missed).sum(axis=1) / N
    found = directions(TIMES[asked], of_rows, of_samples[asked], len(ALL))
    step, even = 1e-6, np.full(N, 1 / N)
    for i in range(N):
        towards = step * (np.eye(N)[i] - even)
        up, down = (leave_one_out_bootstrap(even + s * towards, losses) for s in (1, -1))
        assert found[i] == pytest.approx((up - down) / (2 * step) / N, abs=1e-9)
    assert found.sum() == pytest.approx(0, abs=1e-12)


def test_noise_of_the_samples_is_taken_off() -> None:
    """Over draws of 30 samples the corrected variance has the mean of that of very many samples."""
    rng = np.random.default_rng(1)
    n, effect = 20, rng.uniform(size=20)

    def error(n_samples: int) -> tuple[float, float]:
        drawn = rng.integers(n, size=(n_samples, n))
        times = np.stack([np.bincount(row, minlength=n) for row in drawn])
        missed = times == 0
        losses = effect + 0.05 * (times @ np.linspace(-1, 1, n))[:, None]
        of_rows = (losses * missed).sum(axis=0) / missed.sum(axis=0)
        of_samples = (losses * missed).sum(axis=1) / n
        plain = (directions(times, of_rows, of_samples, n_samples) ** 2).sum()
        found = jackknife_error(times, of_rows, of_samples, n_samples)
        return float(plain), 0.0 if found is None else found**2

    few, many = np.mean([error(60) for _ in range(300)], axis=0), error(40_000)
    assert few[0] > 1.2 * many[0]
    assert few[1] == pytest.approx(many[1], rel=0.1)


def test_noise_alone_gives_no_error() -> None:
    """Where the noise of two samples is larger than what they say, there is no standard error."""
    times = np.array([[2, 1, 0], [1, 2, 0]])
    assert jackknife_error(times, np.full(3, 0.5), np.array([0.0, 0.3]), 2) is None
