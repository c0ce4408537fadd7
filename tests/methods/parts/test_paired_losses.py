"""Losses of several candidates on the same rows, and how their errors go together."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import TimeSeriesSplit
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr
from truerisk.extend import Refusal
from truerisk.losses import Squared, ZeroOne
from truerisk.methods import KFold, Pairs, Racing, ReversedKFold
from truerisk.methods.parts.paired_losses import joint_covariance

X, Y = tr.datasets.make_difficult(53, random_state=0)
KNN, GRID = KNeighborsClassifier(), {"n_neighbors": [1, 3, 9, 30]}


def curve(**asked):
    return tr.risk_curve(KNN, GRID, X, Y, **asked)


@pytest.mark.parametrize(
    "method", ["4-fold", "3x4-fold", "loo", "holdout", "monte-carlo", KFold(5, average="fold")]
)
@pytest.mark.parametrize("loss", ["zero-one", "brier"])
def test_paired_losses_add_up_to_the_risks(method, loss):
    """Folds of unequal size, repeated tests, rows tested by chance: the shares make it the risk."""
    found = curve(cv=method, scoring=loss)
    paired = found.comparable.losses()
    assert paired.row_weights.sum() == pytest.approx(1)
    np.testing.assert_allclose(paired.losses @ paired.row_weights, found.values)
    assert found.best_params in found.best_set()


@pytest.mark.parametrize("loss", ["auc", "mcc", "f1"])
def test_paired_losses_of_scores_are_influences(loss):
    """The same as a further score of another loss; the mean of the rows is 1 − score."""
    found = curve(scoring=["zero-one", loss], cv="5-fold").scores[loss]
    paired = found.comparable.losses()
    np.testing.assert_allclose(paired.losses @ paired.row_weights, 1 - found.values)
    own = curve(scoring=loss, cv="5-fold")
    assert found.best_set(0.8) == own.best_set(0.8)
    assert own.best_params in own.best_set(0.8)


def test_paired_losses_have_the_weights_and_groups_of_the_rows():
    weights, groups = np.arange(53) % 4 + 1.0, np.arange(53) // 3
    given = {"sample_weight": weights, "groups": groups, "cv": "5-fold"}
    found = tr.risk_curve(LogisticRegression(), {"C": [0.01, 1.0, 100.0]}, X, Y, **given)
    paired = found.comparable.losses()
    np.testing.assert_allclose(paired.losses @ paired.row_weights, found.values)
    np.testing.assert_allclose(paired.row_weights, weights / weights.sum())
    assert paired.groups.tolist() == groups.tolist()


@pytest.mark.parametrize(
    ("method", "engine", "why"),
    [
        (".632+", "auto", "gives no mean of losses of rows that were held out"),
        (ReversedKFold(2), "auto", "gives no mean of losses of rows that were held out"),
        (TimeSeriesSplit(3), "auto", "the splits are ordered"),
        (Pairs("5-fold"), "auto", "does not keep the losses of every setting"),
        (Racing("10-fold"), "generic", "left the race before every row had rated them"),
    ],
)
def test_paired_losses_are_refused_where_settings_do_not_compare(method, engine, why):
    """A sentence says why; the printed curve then marks the chosen setting alone."""
    found = tr.risk_curve(KNN, {"n_neighbors": [1, 3, 4, 12]}, X, Y, cv=method, engine=engine)
    with pytest.raises(Refusal, match=why):
        found.best_set()
    assert "may be best" not in str(found)
    assert found.to_dict()["best_set"] is None


def test_best_set_leaves_out_a_failed_setting():
    grid = {"n_neighbors": [1, 3, 50]}
    search = tr.HonestSearchCV(KNN, grid, error_score=np.nan, outer=None)
    with pytest.warns(Warning, match="fail"):
        found = search.fit(X, Y).curve_
    assert {"n_neighbors": 50} not in found.best_set(0.999)
    assert found.best_params in found.best_set()


LOSSES = (np.random.default_rng(0).random((3, 40)) < [[0.2], [0.3], [0.4]]).astype(float)


def covariance(losses, groups=None, loss=None):
    """By what each row adds to the error of the mean."""
    influences = (losses - losses.mean(axis=1, keepdims=True)) / losses.shape[1]
    return joint_covariance(influences, losses.mean(axis=1), groups, loss or ZeroOne())


def test_joint_covariance_is_that_of_means_enlarged():
    """1.8 times the covariance over the number of rows; the losses of copies in groups count once.

    A single group says nothing of a spread.
    """
    expected = pytest.approx(1.8 * np.cov(LOSSES) / 40)
    assert covariance(LOSSES) == expected
    assert covariance(np.repeat(LOSSES, 2, axis=1), np.repeat(np.arange(40), 2)) == expected
    assert covariance(LOSSES, np.zeros(40)) is None


def test_joint_covariance_of_few_errors_is_that_of_two():
    """Sizes without an error are not perfectly known, and not each by itself: of errors alone."""
    none, two = LOSSES * [[1], [0], [0]], 2 / 44
    found = covariance(none)
    assert found[1:, 1:] == pytest.approx(np.full((2, 2), 1.8 * two * (1 - two) / 40))
    assert found[0].tolist() == pytest.approx([1.8 * none[0].var(ddof=1) / 40, 0, 0])
    assert covariance(none, loss=Squared()) is None
