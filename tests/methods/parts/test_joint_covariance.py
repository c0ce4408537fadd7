"""The covariance of risks that were found by testing the same rows."""

from __future__ import annotations

import numpy as np
import pytest

from truerisk.core.losses import Squared, ZeroOne
from truerisk.methods.parts.joint_covariance import joint_covariance

RNG = np.random.default_rng(0)
LOSSES = (RNG.random((3, 40)) < [[0.2], [0.3], [0.4]]).astype(float)


def influences(losses: np.ndarray) -> np.ndarray:
    """What each row adds to the error of the mean."""
    return (losses - losses.mean(axis=1, keepdims=True)) / losses.shape[1]


def test_it_is_that_of_means_enlarged() -> None:
    """1.8 times the covariance of the losses over the number of rows."""
    found = joint_covariance(influences(LOSSES), LOSSES.mean(axis=1), None, ZeroOne())
    assert found == pytest.approx(1.8 * np.cov(LOSSES) / 40)


def test_groups_are_added_up_first() -> None:
    """Rows of a group are one unit: the losses of copies count once."""
    twice = np.repeat(LOSSES, 2, axis=1)
    found = joint_covariance(
        influences(twice), twice.mean(axis=1), np.repeat(np.arange(40), 2), ZeroOne()
    )
    assert found == pytest.approx(1.8 * np.cov(LOSSES) / 40)


def test_few_errors_have_the_variance_of_two() -> None:
    """Sizes without an error are not perfectly known, and not each by itself: of errors alone."""
    none = LOSSES.copy()
    none[1:] = 0
    two = 2 / 44
    found = joint_covariance(influences(none), none.mean(axis=1), None, ZeroOne())
    assert found[1:, 1:] == pytest.approx(np.full((2, 2), 1.8 * two * (1 - two) / 40))
    assert found[0].tolist() == pytest.approx([1.8 * none[0].var(ddof=1) / 40, 0, 0])
    assert joint_covariance(influences(none), none.mean(axis=1), None, Squared()) is None


def test_one_group_has_no_variance() -> None:
    """A single unit says nothing of a spread."""
    assert (
        joint_covariance(influences(LOSSES), LOSSES.mean(axis=1), np.zeros(40), ZeroOne()) is None
    )
