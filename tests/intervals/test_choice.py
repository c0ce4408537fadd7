"""The interval asked for is made, or refused in words; it is never ignored."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import PredefinedSplit, RepeatedKFold, ShuffleSplit
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr
from truerisk.contracts import Streams
from truerisk.core.errors import BadArgument, Refusal, UnknownName
from truerisk.data.data import Data
from truerisk.engines.asking import Asking
from truerisk.intervals.choice import choose, offered, with_interval
from truerisk.losses.loss_words import as_loss
from truerisk.methods.words import as_method

RNG = np.random.default_rng(1)
N = 40
X = RNG.normal(size=(N, 2))
Y = (X[:, 0] + RNG.normal(size=N) > 0).astype(int)
GRID = {"n_neighbors": [1, 3]}
WORDS = tr.intervals.names()
LOSS = as_loss("zero-one", Data.check(X, Y, task="classification"))
DATA = Data.check(X, Y, task="classification", block=X)


def drawn(method):
    """The plan that a method draws of these rows, with the data."""
    return DATA, method.plan(DATA, Streams(0))


@pytest.mark.parametrize("method", [*tr.methods.names(), "10-fold", "2x5-fold", "reversed 4-fold"])
@pytest.mark.parametrize("word", WORDS)
def test_no_method_ignores_it(method, word):
    """Every method offers an interval, becomes one that does, or is said to lack what it needs."""
    method = method.replace("K", "4")
    message = ""
    try:
        found = with_interval(as_method(method), word)
        data, plan = drawn(found)
        assert choose(word, LOSS, data, found, plan) == word
    except Refusal as refusal:
        message = str(refusal)
    if message:
        assert message.startswith(f"interval '{word}' needs ")
        lacking = as_method("5-fold" if method in INSIDE else method)
        assert f", which method '{lacking.word}' (it offers " in message
    else:
        assert word in offered(found, data, plan)


OF_SETS = ("conservative-z", "logit-cv", "log-cv", "spatial")  # not of losses of rows alone
INSIDE = ("nested", "pairs")  # what an interval rests on are their outer tests
FOLDS = np.arange(N) % 4
METHODS = [
    *("2x5-fold", *(m.replace("K", "4") for m in tr.methods.names())),
    *(tr.methods.KFold(folds=folds) for folds in (FOLDS, [FOLDS, FOLDS // 2])),
    *(RepeatedKFold(n_splits=4, n_repeats=often, random_state=0) for often in (1, 2)),
    tr.methods.MonteCarlo(1),
    *([(k != FOLDS, k == FOLDS) for k in folds] for folds in (range(4), [*range(4), *range(4)])),
]
OFFERED = [
    (method, word)
    for method in METHODS
    for word in offered(as_method(method), *drawn(as_method(method)))
]


@pytest.mark.filterwarnings("ignore::truerisk.core.errors.SpaceLeakWarning")
@pytest.mark.parametrize(("method", "word"), OFFERED)
def test_what_is_offered_is_made(method, word):
    """An interval of that name, or a note why there is none."""
    given = {"cv": method, "interval": word, "random_state": 0}
    if word == "spatial" or as_method(method).respects_space:
        given["block"] = X
    found = tr.estimate_risk(KNeighborsClassifier(3), X, Y, **given)
    if found.interval is None:
        assert found.notes
    else:
        assert found.interval.method.removesuffix("-grouped") == word  # cells are groups


@pytest.mark.parametrize("word", ["wald", "beta", "beta-cv"])
@pytest.mark.parametrize("tuned", [False, True])
def test_a_drawn_plan_is_held_to_it_before_anything_is_fitted(word, tuned, monkeypatch):
    """How often splits of others test a row is known once they are drawn, and not before."""
    monkeypatch.setattr(Asking, "__call__", lambda *_, **__: pytest.fail("a fit was made"))
    drawn = ShuffleSplit(3, test_size=0.3, random_state=0)
    method = tr.methods.Nested(drawn, "3-fold") if tuned else drawn
    with pytest.raises(Refusal, match=f"interval '{word}' needs rows that are tested .* cannot"):
        tr.estimate_risk(KNeighborsClassifier(), X, Y, cv=method, interval=word)
    few = tr.methods.Subsampled(9, "4-fold")
    if word == "wald":
        with pytest.raises(Refusal, match="needs rows that are tested once, which method"):
            tr.estimate_risk(KNeighborsClassifier(), X, Y, cv=few, interval=word)


def test_a_splitter_that_draws_folds_has_what_folds_have():
    """Its drawn plan tells that it tests every row equally often, whatever its class."""
    given = {"cv": PredefinedSplit(FOLDS), "interval": "beta-cv"}
    assert tr.estimate_risk(KNeighborsClassifier(3), X, Y, **given).interval.method == "beta-cv"


@pytest.mark.filterwarnings("ignore::truerisk.core.errors.TimeLeakWarning")
def test_what_rows_with_times_have_may_be_asked_for():
    """Folds of rows with times have the interval that counts their order, asked for or not."""
    given = {"cv": "4-fold", "time": FOLDS}
    asked = tr.estimate_risk(KNeighborsClassifier(3), X, Y, interval="hac", **given)
    assert asked.notes == tr.estimate_risk(KNeighborsClassifier(3), X, Y, **given).notes


@pytest.mark.parametrize(
    "word", [w for w in WORDS if w not in ("bootstrap-.632", "hac", "spatial")]
)
def test_searches_and_assessments_have_it(word):
    """HonestSearchCV and assess report it, and the risk of choosing among learners has it."""
    search = tr.HonestSearchCV(KNeighborsClassifier(), GRID, interval=word, cv="3-fold")
    search.set_params(outer="4-fold").fit(X, Y)
    assert search.risk_.interval.method == word
    learners = {"a": (KNeighborsClassifier(), GRID), "b": KNeighborsClassifier(5)}
    found = tr.assess(learners, X, Y, cv=["3-fold"], outer="4-fold", interval=word)
    assert {risk.interval.method for risk in found.risks.values()} == {word}
    assert found.choice.interval.method == word


def test_grouped_data_get_grouped_forms():
    """Wald, NCV and Beta add up groups first and say so in their name."""
    groups = np.arange(N) // 2
    for word in ("wald", "ncv", "beta-ncv", "beta", "beta-cv", "log-cv"):
        found = tr.estimate_risk(
            KNeighborsClassifier(3), X, Y, cv="4-fold", interval=word, groups=groups
        )
        assert found.interval.method == f"{word}-grouped"


@pytest.mark.parametrize("word", [w for w in WORDS if w not in OF_SETS])
def test_losses_of_sets_are_refused_before_anything_is_fitted(word):
    """AUC has no losses of rows: refused, and the way out is named."""
    given = {"cv": {"bootstrap-.632": ".632", "hac": "forward-3"}.get(word, "10-fold")}
    given["scoring"] = "auc"
    with pytest.raises(Refusal, match="loss 'auc' .*conservative-z"):
        tr.estimate_risk(LogisticRegression(), X, Y, interval=word, **given)


def test_an_unknown_word_is_refused():
    """With the words that exist."""
    with pytest.raises(UnknownName, match="corrected-t"):
        tr.estimate_risk(LogisticRegression(), X, Y, interval="wold")


def test_the_registry_prints_itself():
    """One line a word."""
    assert len(str(tr.intervals.registry).splitlines()) == len(WORDS)


def test_the_bootstrap_draws_what_the_interval_of_oob_needs():
    """The word `oob` becomes the samples that its interval is made of, for forests too."""
    found = tr.estimate_risk(KNeighborsClassifier(3), X, Y, cv="oob", interval="bootstrap-.632")
    assert (found.method, found.interval.method) == ("oob (bootstrap)", "bootstrap-.632")
    assert with_interval(as_method("oob"), "bootstrap-.632").word == found.method


@pytest.mark.parametrize("given", [["wald"], 3, {"wald": 1}])
def test_what_is_no_name_is_said(given):
    """A sentence with the names, whatever is given."""
    with pytest.raises(BadArgument, match="is no interval: use one of wald"):
        tr.estimate_risk(KNeighborsClassifier(3), X, Y, interval=given)
