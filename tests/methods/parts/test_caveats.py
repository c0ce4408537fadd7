"""A squared loss that rests on a few rows is said to."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import Ridge

import truerisk as tr
from truerisk.core.errors import BadArgument

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 3))
NORMAL = X[:, 0] + RNG.normal(size=200)
HEAVY = X[:, 0] + RNG.standard_t(1.2, size=200)


def notes(y, **options):
    """What is said of few rows."""
    found = tr.estimate_risk(Ridge(), X, y, **options)
    return [note for note in found.notes if " of the squared loss: value" in note]


def test_it_is_said_of_heavy_tails_with_the_share() -> None:
    """Two of 200 rows, by the squared errors themselves."""
    found = tr.estimate_risk(Ridge(), X, HEAVY)
    top = np.sort(found.losses)[-2:].sum() / found.losses.sum()
    (note,) = notes(HEAVY)
    assert note.startswith(f"the 2 largest rows of 200 carry {top:.0%} of the squared loss")
    assert top > 1 / 3


def test_it_is_not_said_of_normal_errors_and_of_counts() -> None:
    """The largest of 200 squared normal errors has a twentieth; a count of errors has a bound."""
    assert not notes(NORMAL)
    found = tr.estimate_risk(tr.models.FisherClassifier(), X, HEAVY > 0)
    assert not any(" of the squared loss: value" in note for note in found.notes)


def test_a_weight_counts() -> None:
    """A row without weight carries nothing."""
    worst = np.argsort(tr.estimate_risk(Ridge(), X, HEAVY).losses)[-6:]
    weights = np.ones(200)
    weights[worst] = 1e-9
    assert notes(HEAVY)
    assert not notes(HEAVY, sample_weight=weights)


def test_the_page_and_the_search_say_it() -> None:
    """In the notes of the honest risk."""
    a = tr.assess({"ridge": (Ridge(), {"alpha": [0.1, 1.0]})}, X, HEAVY, cv=["5-fold"])
    assert any(" of the squared loss: value" in note for note in a.risks["ridge"].notes)
    assert " of the squared loss: value" in a.to_html()


def log_loss(sure, wrong, loss="log"):
    """Of 100 rows with probabilities given beforehand: `sure` of them 1, `wrong` of these wrong."""
    y = np.arange(100) % 2
    said = np.where(y == 1, 0.8, 0.2)
    said[:sure] = y[:sure]
    said[:wrong] = 1 - y[:wrong]
    table = np.column_stack([said, np.arange(100)])
    return tr.estimate_risk(Said(), table, y, scoring=loss)


GIVEN = np.column_stack([np.arange(100) % 2 * 0.6 + 0.2, np.arange(100)]), np.arange(100) // 3 % 2


class Said(ClassifierMixin, BaseEstimator):
    """The first column is the probability of class 1."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return (X[:, 0] > 0.5).astype(int)

    def predict_proba(self, X):
        shares = np.column_stack([1 - X[:, 0], X[:, 0]])
        return np.maximum(shares, 1e-17)  # below the clip, and yet not an infinite loss


def test_sure_answers_of_which_none_was_wrong_leave_no_interval() -> None:
    """Beyond a tenth of the answers: the first wrong one would cost 36. The bound is named."""
    found = log_loss(11, 0)
    assert found.interval is None
    assert found.std_error > 0
    assert found.notes[-1].startswith("11% of the answers give some class no chance at all, and")
    assert "would cost 36.04" in found.notes[-1]
    assert "scoring=tr.losses.Log(clip=0.001)" in found.notes[-1]
    for one in (log_loss(10, 0), log_loss(50, 1), log_loss(50, 0, tr.losses.Log(clip=0.001))):
        assert one.interval is not None


def test_a_few_sure_and_wrong_rows_are_said_to_carry_log_loss() -> None:
    """Up to nine, and not only the largest in a hundred; with a bound nothing is said."""
    told = [" ".join(log_loss(50, wrong).notes) for wrong in (1, 9, 10)]
    assert "the largest row of 100 carries" in told[0]
    assert "the 9 largest rows of 100 carry 9" in told[1]
    assert "scoring=tr.losses.Log(clip=0.001) bounds what a row costs." in told[1]
    assert "largest" not in told[2]
    assert not log_loss(50, 9, tr.losses.Log(clip=0.001)).notes


def test_the_bound_of_log_loss() -> None:
    """−log(max(p, clip)), never above −log(clip), with the interval of losses with a bound."""
    bounded = tr.losses.Log(clip=0.01)
    found = log_loss(50, 9, bounded)
    assert found.losses.max() == bounded.upper == -np.log(0.01)
    assert found.scoring == "log clipped at 0.01"
    np.testing.assert_allclose(found.losses[50:], log_loss(50, 9).losses[50:])
    assert (
        tr.estimate_risk(Said(), *GIVEN, scoring=bounded, cv="pairs").interval.method == "beta-cv"
    )
    with pytest.raises(BadArgument, match=r"clip=0.5: give how near to 0 and 1"):
        tr.losses.Log(clip=0.5)
