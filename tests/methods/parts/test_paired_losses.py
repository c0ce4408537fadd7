"""Losses of several candidates on the same rows, and how their errors go together."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import TimeSeriesSplit
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr
from truerisk.core.errors import Refusal
from truerisk.losses.row_losses import Squared, ZeroOne
from truerisk.methods.parts.paired_losses import joint_covariance

X, Y = tr.datasets.make_difficult(53, random_state=0)
GRID = {"n_neighbors": [1, 3, 9, 30]}
WEIGHTS = np.arange(53) % 4 + 1.0


def curve(**asked):
    return tr.risk_curve(KNeighborsClassifier(), GRID, X, Y, **asked)


@pytest.mark.parametrize(
    "method",
    [
        *("4-fold", "3x4-fold", "loo", "holdout", "monte-carlo"),
        tr.methods.KFold(5, average="fold"),
    ],
)
@pytest.mark.parametrize("loss", ["zero-one", "brier"])
def test_they_add_up_to_the_risks(method, loss):
    """Folds of unequal size, repeated tests, rows tested by chance: the shares make it the risk."""
    found = curve(cv=method, scoring=loss)
    paired = found.comparable.losses()
    assert paired.shares.sum() == pytest.approx(1)
    np.testing.assert_allclose(paired.losses @ paired.shares, found.values)
    assert found.best_params in found.best_set()


@pytest.mark.parametrize("loss", ["auc", "mcc", "f1"])
def test_scores_are_told_by_influences(loss):
    """The same as a further score of another loss; the mean of the rows is 1 − score."""
    found = curve(scoring=["zero-one", loss], cv="5-fold").scores[loss]
    paired = found.comparable.losses()
    np.testing.assert_allclose(paired.losses @ paired.shares, 1 - found.values)
    own = curve(scoring=loss, cv="5-fold")
    assert found.best_set(0.8) == own.best_set(0.8)
    assert own.best_params in own.best_set(0.8)


def test_weights_count_as_in_the_risk():
    """Rows that weigh more have larger shares."""
    model, grid = LogisticRegression(), {"C": [0.01, 1.0, 100.0]}
    found = tr.risk_curve(model, grid, X, Y, sample_weight=WEIGHTS, cv="5-fold")
    paired = found.comparable.losses()
    np.testing.assert_allclose(paired.losses @ paired.shares, found.values)
    np.testing.assert_allclose(paired.shares, WEIGHTS / WEIGHTS.sum())


def test_groups_go_along():
    """Rows of a group are one unit."""
    groups = np.arange(53) // 3
    paired = curve(groups=groups, cv="4-fold").comparable.losses()
    assert paired.groups.tolist() == groups.tolist()


@pytest.mark.parametrize(
    ("method", "why"),
    [
        (".632+", "gives no mean of losses of rows that were held out"),
        (tr.methods.ReversedKFold(2), "gives no mean of losses of rows that were held out"),
        (TimeSeriesSplit(3), "the splits are ordered"),
        (tr.methods.Pairs("5-fold"), "does not keep the losses of every setting"),
        (tr.methods.Racing("10-fold"), "settings left the race before every row had rated them"),
    ],
)
def test_what_does_not_compare_is_refused(method, why):
    """A sentence says why; the printed curve then marks the chosen setting alone."""
    grid = {"n_neighbors": [1, 3, 4, 12]}
    engine = "generic" if isinstance(method, tr.methods.Racing) else "auto"
    found = tr.risk_curve(KNeighborsClassifier(), grid, X, Y, cv=method, engine=engine)
    with pytest.raises(Refusal, match=why):
        found.best_set()
    assert "may be best" not in str(found)
    assert found.to_dict()["best_set"] is None


def test_a_failed_setting_is_not_in_the_set():
    """The others compare among themselves."""
    search = tr.HonestSearchCV(
        KNeighborsClassifier(), {"n_neighbors": [1, 3, 50]}, error_score=np.nan, outer=None
    )
    with pytest.warns(Warning, match="fail"):
        found = search.fit(X, Y).curve_
    assert {"n_neighbors": 50} not in found.best_set(0.999)
    assert found.best_params in found.best_set()


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
