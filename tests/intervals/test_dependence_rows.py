"""What takes rows as independent has no interval where they have times or places."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

import truerisk as tr
from truerisk.core.errors import Refusal

N = 120
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 2))
Y = (X[:, 0] + RNG.normal(size=N) > 0).astype(int)
PLACES = np.column_stack([np.arange(N) % 12, np.arange(N) // 12]).astype(float)
KNOWN = {"times": {"time": np.arange(N)}, "places": {"block": PLACES}}
MODEL = LinearDiscriminantAnalysis()
METHODS = (
    tr.methods.NestedInterval(5, repeats=2),
    tr.methods.PairedHalves(pairs=2),
    tr.methods.Bootstrap("oob", replicates=200),
)


@pytest.mark.filterwarnings("ignore::truerisk.core.errors.TimeLeakWarning")
@pytest.mark.filterwarnings("ignore::truerisk.core.errors.SpaceLeakWarning")
@pytest.mark.parametrize("known", KNOWN)
@pytest.mark.parametrize("method", METHODS, ids=["ncv", "halves", "bootstrap"])
def test_they_have_none_and_say_why(method, known):
    """The risk is the same; standard error and interval are None with a note."""
    plain = tr.estimate_risk(MODEL, X, Y, cv=method)
    assert plain.std_error is not None
    found = tr.estimate_risk(MODEL, X, Y, cv=method, **KNOWN[known])
    assert found.std_error is None
    assert found.interval is None
    assert any("an interval of independent rows is not justified" in note for note in found.notes)


@pytest.mark.filterwarnings("ignore::truerisk.core.errors.TimeLeakWarning")
@pytest.mark.filterwarnings("ignore::truerisk.core.errors.SpaceLeakWarning")
@pytest.mark.parametrize(
    ("word", "known"),
    [
        *((word, "times") for word in ("wald", "logit-cv", "beta-ncv", "conservative-z")),
        *((word, "places") for word in ("ncv", "beta-ncv", "conservative-z")),
    ],
)
def test_one_that_is_asked_for_is_refused(word, known):
    """Nothing that was asked for is dropped."""
    with pytest.raises(Refusal, match=rf"interval '{word}' is not available here: (time|block)="):
        tr.estimate_risk(MODEL, X, Y, cv="5-fold", interval=word, **KNOWN[known])


def test_labels_of_blocks_are_groups():
    """Folds leave them whole, and their losses are added up first."""
    found = tr.estimate_risk(MODEL, X, Y, cv=METHODS[0], block=np.arange(N) // 4)
    assert found.interval.method == "ncv-grouped"


@pytest.mark.filterwarnings("ignore::truerisk.core.errors.SpaceLeakWarning")
@pytest.mark.parametrize("word", ["purged-5", "forward-5"])
def test_a_method_that_orders_rows_implies_times(word):
    """No interval of independent rows for AUC, ROC curve and calibration without time= either."""
    found = tr.assess({"lda": MODEL}, X, Y, outer=word, scoring=["zero-one", "auc"])
    assert found.roc.interval is None
    assert found.roc.std_error is None
    assert found.calibration.low is None
    assert found.risks["lda"].scores["auc"].interval is None
    beside = tr.estimate_risk(MODEL, X, Y, cv=word, scoring=["zero-one", "auc"], block=PLACES)
    assert beside.scores["auc"].interval is None
