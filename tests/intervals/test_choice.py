"""The interval asked for is made, or refused in words; it is never ignored."""

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import PredefinedSplit, RepeatedKFold, ShuffleSplit
from sklearn.neighbors import KNeighborsClassifier
from tests.support.data import checked, normal_rows
from tests.support.plans import drawn

import truerisk as tr
from truerisk.exceptions import UnknownName
from truerisk.extend import OF_A_MEAN, Asking, BadArgument, Interval, IntervalForm, Refusal
from truerisk.intervals.choice import (
    adapt_method_to_interval,
    available_interval_names,
    choose_interval,
    user_interval_forms,
)
from truerisk.losses import ZeroOne
from truerisk.methods import KFold, MonteCarlo, Nested, Subsampled, as_method

N = 40
X, Y, _ = normal_rows(N, seed=1)
KNN, GRID = KNeighborsClassifier(3), {"n_neighbors": [1, 3]}
WORDS = tr.intervals.names()
DATA = checked(X, Y, block=X)
NAMES = [m.replace("K", "4") for m in tr.methods.names()]
OF_SETS = ("conservative-z", "logit-cv", "log-cv", "spatial")  # not of losses of rows alone
INSIDE = ("nested", "pairs")  # what an interval rests on are their outer tests
FOLDS = np.arange(N) % 4


def risk(interval=None, model=KNN, X=X, y=Y, **more):
    return tr.estimate_risk(model, X, y, interval=interval, **more)


@pytest.mark.parametrize("method", [*NAMES, "10-fold", "2x5-fold", "reversed 4-fold"])
@pytest.mark.parametrize("word", WORDS)
def test_interval_is_ignored_by_no_method(method, word):
    """Every method offers an interval, becomes one that does, or is said to lack what it needs."""
    try:
        found = adapt_method_to_interval(as_method(method), word)
        plan = drawn(found, DATA)
        assert choose_interval(word, ZeroOne(), DATA, found, plan) == word
    except Refusal as refusal:
        message = str(refusal)
        assert message.startswith(f"interval '{word}' needs ")
        lacking = as_method("5-fold" if method in INSIDE else method)
        assert f", which method '{lacking.name}' (it offers " in message
    else:
        assert word in available_interval_names(found, DATA, plan)


METHODS = [
    *("2x5-fold", *NAMES),
    *(KFold(folds=folds) for folds in (FOLDS, [FOLDS, FOLDS // 2])),
    *(RepeatedKFold(n_splits=4, n_repeats=often, random_state=0) for often in (1, 2)),
    *(PredefinedSplit(FOLDS), MonteCarlo(1)),
    *([(k != FOLDS, k == FOLDS) for k in folds] for folds in (range(4), [*range(4), *range(4)])),
]
OFFERED = [
    (method, word)
    for method in METHODS
    for word in available_interval_names(as_method(method), DATA, drawn(as_method(method), DATA))
]


@pytest.mark.filterwarnings("ignore::truerisk.exceptions.SpaceLeakWarning")
@pytest.mark.parametrize(("method", "word"), OFFERED)
def test_interval_that_is_offered_is_made(method, word):
    given = {"block": X} if word == "spatial" or as_method(method).respects_space else {}
    found = risk(word, cv=method, **given)
    if found.interval is None:
        assert found.notes
    else:
        assert found.interval.method.removesuffix("-grouped") == word  # cells are groups


@pytest.mark.parametrize("word", ["wald", "beta", "beta-cv"])
@pytest.mark.parametrize("tuned", [False, True])
def test_interval_is_refused_for_a_drawn_plan_before_anything_is_fitted(word, tuned, monkeypatch):
    """How often splits of others test a row is known once they are drawn, and not before."""
    monkeypatch.setattr(Asking, "__call__", lambda *_, **__: pytest.fail("a fit was made"))
    shuffled = ShuffleSplit(3, test_size=0.3, random_state=0)
    method = Nested(shuffled, "3-fold") if tuned else shuffled
    with pytest.raises(Refusal, match=f"interval '{word}' needs rows that are tested .* cannot"):
        risk(word, cv=method)
    if word == "wald":
        with pytest.raises(Refusal, match="needs rows that are tested once, which method"):
            risk(word, cv=Subsampled(9, "4-fold"))


@pytest.mark.filterwarnings("ignore::truerisk.exceptions.TimeLeakWarning")
def test_interval_of_rows_with_times_may_be_asked_for_by_name():
    """Folds of rows with times have the interval that counts their order, asked for or not."""
    asked, unasked = (risk(word, cv="4-fold", time=FOLDS) for word in ("hac", None))
    assert asked.notes == unasked.notes


@pytest.mark.parametrize("word", ["wald", "ncv", "conservative-z", "beta-cv"])
def test_interval_is_that_of_searches_and_assessments(word):
    """HonestSearchCV and assess report it, and the risk of choosing among learners has it."""
    search = tr.HonestSearchCV(KNN, GRID, interval=word, cv="3-fold", outer="4-fold").fit(X, Y)
    assert search.risk_.interval.method == word
    learners = {"a": (KNN, GRID), "b": KNeighborsClassifier(5)}
    found = tr.assess(learners, X, Y, cv=["3-fold"], outer="4-fold", interval=word)
    assert {one.interval.method for one in [*found.risks.values(), found.choice]} == {word}


@pytest.mark.parametrize("word", [w for w in WORDS if w not in OF_SETS])
def test_interval_of_rows_is_refused_for_losses_of_sets(word):
    cv = {"bootstrap-.632": ".632", "hac": "forward-3"}.get(word, "10-fold")
    with pytest.raises(Refusal, match="loss 'auc' .*conservative-z"):
        risk(word, LogisticRegression(), cv=cv, scoring="auc")


def test_interval_of_oob_makes_the_bootstrap_draw_samples():
    """The word `oob` becomes the samples that its interval is made of, for forests too."""
    found = risk("bootstrap-.632", cv="oob")
    assert (found.method, found.interval.method) == ("oob (bootstrap)", "bootstrap-.632")
    assert adapt_method_to_interval(as_method("oob"), "bootstrap-.632").name == found.method


# ---------------- intervals of one's own


class Tenth(IntervalForm):
    """A tenth to either side, for the sake of the example."""

    name = "tenth"
    needs = OF_A_MEAN
    reference = "Tenth A (1910). On tenths."

    def compute(self, evidence, c):
        value = float(evidence.values[c])
        return None, evidence.around(value, 0.1, self.name), ()


class Taken(Tenth):
    name = "wald"


class Nameless(Tenth):
    name = None


@pytest.fixture(autouse=True)
def forgotten():
    """Forget the intervals that a test has given."""
    yield
    user_interval_forms.clear()


def test_own_interval_is_taken_as_object_by_word_and_cited_on_pages():
    rule, y = DummyClassifier(), np.arange(N) % 4 == 0
    found = risk(Tenth(), rule, y=y)
    assert (found.interval.low, found.interval.high) == pytest.approx((0.15, 0.35))
    assert found.interval.method == "tenth"
    assert tr.intervals.names()[-1] == "tenth"
    search = tr.HonestSearchCV(rule, {"strategy": ["prior", "uniform"]}, interval="tenth")
    assert search.fit(X, y).risk_.interval.method == "tenth"
    assert "Tenth A (1910)" in tr.assess({"rule": rule}, X, y, interval=Tenth()).to_html()


def odd(made):
    """Return an interval form whose `compute` returns `made`."""

    class Odd(Tenth):
        name = "odd"

        def compute(self, evidence, c):
            return made

    return Odd()


MADE = "interval 'odd' gave .*: give a standard error or None"


@pytest.mark.parametrize(
    ("given", "error", "sentence"),
    [
        pytest.param("wold", UnknownName, "corrected-t", id="near a word"),
        pytest.param("tenth", UnknownName, "there is no interval 'tenth'", id="no word"),
        pytest.param(["wald"], BadArgument, "is no interval: use one of wald", id="list"),
        pytest.param(3, BadArgument, "is no interval: use one of wald", id="number"),
        pytest.param({"wald": 1}, BadArgument, "is no interval: use one of wald", id="dict"),
        pytest.param(Taken(), BadArgument, "'wald' is one of ours", id="taken"),
        pytest.param(Nameless(), BadArgument, "Nameless has no name", id="nameless"),
        pytest.param(Tenth, UnknownName, "Tenth is a class", id="class"),
        pytest.param(odd((0.1, 0.3)), BadArgument, MADE, id="ends alone"),
        pytest.param(
            odd((None, Interval("low", "high", "odd"), ())), BadArgument, MADE, id="texts"
        ),
        pytest.param(
            odd((None, Interval(0.3, 0.1, "odd"), ())), BadArgument, MADE, id="upside down"
        ),
        pytest.param(odd(("0.1", None, ())), BadArgument, MADE, id="error a text"),
        pytest.param(odd(None), BadArgument, MADE, id="nothing"),
    ],
)
def test_interval_refuses_what_is_or_makes_none(given, error, sentence):
    with pytest.raises(error, match=sentence):
        risk(given, DummyClassifier())


# ---------------- rows that have times or places


ROWS = 120
X_ROWS, Y_ROWS, _ = normal_rows(ROWS)
PLACES = np.column_stack([np.arange(ROWS) % 12, np.arange(ROWS) // 12]).astype(float)
KNOWN = {"times": {"time": np.arange(ROWS)}, "places": {"block": PLACES}}
LDA = LinearDiscriminantAnalysis()
INDEPENDENT = (
    tr.methods.NestedInterval(5, repeats=2),
    tr.methods.PairedHalves(pairs=2),
    tr.methods.Bootstrap("oob", replicates=200),
)
LEAKS = [
    pytest.mark.filterwarnings(f"ignore::truerisk.exceptions.{name}LeakWarning")
    for name in ("Time", "Space")
]


def leaky(test):
    return LEAKS[0](LEAKS[1](test))


@leaky
@pytest.mark.parametrize("known", KNOWN)
@pytest.mark.parametrize("method", INDEPENDENT, ids=["ncv", "halves", "bootstrap"])
def test_interval_of_independent_rows_is_none_for_rows_with_times_or_places(method, known):
    """With a note; where it is asked for it is refused."""
    assert tr.estimate_risk(LDA, X_ROWS, Y_ROWS, cv=method).std_error is not None
    found = tr.estimate_risk(LDA, X_ROWS, Y_ROWS, cv=method, **KNOWN[known])
    assert (found.std_error, found.interval) == (None, None)
    assert any("an interval of independent rows is not justified" in note for note in found.notes)


@leaky
@pytest.mark.parametrize(
    ("word", "known"),
    [
        *((word, "times") for word in ("wald", "logit-cv", "beta-ncv", "conservative-z")),
        *((word, "places") for word in ("ncv", "beta-ncv", "conservative-z")),
    ],
)
def test_interval_of_independent_rows_is_refused_for_rows_with_times_or_places(word, known):
    with pytest.raises(Refusal, match=rf"interval '{word}' is not available here: (time|block)="):
        risk(word, LDA, X_ROWS, Y_ROWS, cv="5-fold", **KNOWN[known])


def test_interval_of_labelled_blocks_is_that_of_groups():
    """Folds leave them whole, and their losses are added up first."""
    found = tr.estimate_risk(LDA, X_ROWS, Y_ROWS, cv=INDEPENDENT[0], block=np.arange(ROWS) // 4)
    assert found.interval.method == "ncv-grouped"


@leaky
@pytest.mark.parametrize("word", ["purged-5", "forward-5"])
def test_interval_is_none_where_the_method_orders_rows(word):
    """No interval of independent rows for AUC, ROC curve and calibration without time= either."""
    asked = {"scoring": ["zero-one", "auc"]}
    found = tr.assess({"lda": LDA}, X_ROWS, Y_ROWS, outer=word, **asked)
    assert (found.roc.interval, found.roc.std_error, found.calibration.low) == (None, None, None)
    assert found.risks["lda"].scores["auc"].interval is None
    beside = tr.estimate_risk(LDA, X_ROWS, Y_ROWS, cv=word, block=PLACES, **asked)
    assert beside.scores["auc"].interval is None
