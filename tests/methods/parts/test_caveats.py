"""Notes on squared and log losses that rest on a few rows."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import Ridge

import truerisk as tr
from truerisk.extend import BadArgument
from truerisk.losses import Log

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 3))
NORMAL = X[:, 0] + RNG.normal(size=200)
HEAVY = X[:, 0] + RNG.standard_t(1.2, size=200)
FEW_ROWS = " of the squared loss: value"


def notes(y, model=None, **options):
    """List what is said of few rows."""
    found = tr.estimate_risk(model or Ridge(), X, y, **options)
    return [note for note in found.notes if FEW_ROWS in note]


def test_caveat_of_heavy_tails_tells_the_share_of_the_largest_rows():
    """Two of 200 rows, by the squared errors themselves; of an assessment and on its page, too."""
    found = tr.estimate_risk(Ridge(), X, HEAVY)
    top = np.sort(found.losses)[-2:].sum() / found.losses.sum()
    (note,) = notes(HEAVY)
    assert note.startswith(f"the 2 largest rows of 200 carry {top:.0%} of the squared loss")
    assert top > 1 / 3
    a = tr.assess({"ridge": (Ridge(), {"alpha": [0.1, 1.0]})}, X, HEAVY, cv=["5-fold"])
    assert any(FEW_ROWS in note for note in a.risks["ridge"].notes)
    assert FEW_ROWS in a.to_html()


def test_caveat_is_not_said_of_normal_errors_counts_and_rows_without_weight():
    """The largest of 200 squared normal errors has a twentieth; a count of errors has a bound."""
    assert not notes(NORMAL)
    assert not notes(HEAVY > 0, tr.models.FisherClassifier())
    weights = np.ones(200)
    weights[np.argsort(tr.estimate_risk(Ridge(), X, HEAVY).losses)[-6:]] = 1e-9
    assert not notes(HEAVY, sample_weight=weights)


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


def log_loss(sure, wrong, loss="log", **options):
    """Of 100 rows with probabilities given beforehand: `sure` of them 1, `wrong` of these wrong."""
    y = np.arange(100) % 2
    said = np.where(y == 1, 0.8, 0.2)
    said[:sure] = y[:sure]
    said[:wrong] = 1 - y[:wrong]
    table = np.column_stack([said, np.arange(100)])
    return tr.estimate_risk(Said(), table, y, scoring=loss, **options)


def test_log_loss_of_sure_answers_none_of_which_was_wrong_has_no_interval():
    """Beyond a tenth of the answers: the first wrong one would cost 36. The bound is named."""
    found = log_loss(11, 0)
    assert found.interval is None
    assert found.std_error > 0
    assert found.notes[-1].startswith("11% of the answers give some class no chance at all, and")
    assert "would cost 36.04" in found.notes[-1]
    assert "scoring=tr.losses.Log(clip=0.001)" in found.notes[-1]
    for one in (log_loss(10, 0), log_loss(50, 1), log_loss(50, 0, Log(clip=0.001))):
        assert one.interval is not None


def test_log_loss_is_said_to_rest_on_a_few_sure_and_wrong_rows():
    """Up to nine, and not only the largest in a hundred; with a bound nothing is said."""
    one, nine, ten = (" ".join(log_loss(50, wrong).notes) for wrong in (1, 9, 10))
    assert "the largest row of 100 carries" in one
    assert "the 9 largest rows of 100 carry 9" in nine
    assert "scoring=tr.losses.Log(clip=0.001) bounds what a row costs." in nine
    assert "largest" not in ten
    assert not log_loss(50, 9, Log(clip=0.001)).notes


def test_log_loss_with_a_clip_has_a_bound_and_its_interval():
    """−log(max(p, clip)), never above −log(clip)."""
    bounded = Log(clip=0.01)
    found = log_loss(50, 9, bounded)
    assert found.losses.max() == bounded.upper == -np.log(0.01)
    assert found.scoring == "log clipped at 0.01"
    np.testing.assert_allclose(found.losses[50:], log_loss(50, 9).losses[50:])
    assert log_loss(0, 30, bounded, cv="pairs").interval.method == "beta-cv"
    with pytest.raises(BadArgument, match=r"clip=0.5: give how near to 0 and 1"):
        Log(clip=0.5)
