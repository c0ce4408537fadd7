"""What cannot be an answer is a sentence; answers of each kind are made once for a test set."""

import warnings
from collections import Counter

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.linear_model import Ridge
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import truerisk as tr
from truerisk.assessment.pace import measure_pace
from truerisk.engines.running.several_scores import predict_once
from truerisk.estimation.problem import problem_from_arguments
from truerisk.exceptions import FitFailed
from truerisk.extend import Family, Streams, TrueRiskError, TrueRiskWarning
from truerisk.methods import KFold

N = 60
Y = np.arange(N) % 2
X = np.random.default_rng(0).normal(size=(N, 3)) + Y[:, None]
WORDS = np.array(["a", "b"])[Y]


class Other(ClassifierMixin, BaseEstimator):
    """Naive Bayes that changes its answers, and calls its classes otherwise, or not at all."""

    def __init__(self, label=None, share=None, classes=None):
        self.label, self.share, self.classes = label, share, classes

    def fit(self, X, y):
        self.model_ = GaussianNB().fit(X, y)
        if self.classes != "none":
            self.classes_ = np.array(self.classes or self.model_.classes_)
        return self

    def predict(self, X):
        said = self.model_.predict(X)
        return said if self.label is None else self.label(said)

    def predict_proba(self, X):
        said = self.model_.predict_proba(X)
        return said if self.share is None else self.share(said)


class Backwards(Other):
    """Knows its classes in descending order, as its columns and decision values do."""

    def fit(self, X, y):
        super().fit(X, y)
        self.classes_ = self.classes_[::-1]
        return self

    def predict_proba(self, X):
        return super().predict_proba(X)[:, ::-1]


class Deciding(Backwards):
    """Has decision values for the second of its classes, the first in sorted order."""

    def decision_function(self, X):
        return self.predict_proba(X)[:, 1] - 0.5


class Numbers(RegressorMixin, BaseEstimator):
    """Ridge that gives its answers in another shape."""

    def __init__(self, shape=None):
        self.shape = shape

    def fit(self, X, y):
        self.model_ = Ridge().fit(X, y)
        return self

    def predict(self, X):
        said = self.model_.predict(X)
        return said if self.shape is None else self.shape(said)


def risk(model, y=Y, scoring=None):
    """The value of three folds."""
    return tr.estimate_risk(model, X, y, cv="3-fold", scoring=scoring).value


def cell(value):
    """One row of each test set has it: the others must not be blamed for their sums."""
    return lambda p: np.where(np.arange(len(p))[:, None] == 3, [value, -value], p).tolist()


NO_LABEL = "predicted (%s), which is no label as y has them"
NO_SHARE = r"predict_proba gave %s\.\d+.*between 0 and 1"
ROWS = "for 20 rows and 2 classes"
NO_ANSWERS = [
    *(
        (Other(label=label), y, "zero-one", NO_LABEL % shown)
        for y, label, shown in [
            (Y, lambda said: said.astype(str), "'0'"),
            (Y, lambda said: said.astype("S1"), "b'0'"),
            (Y, lambda said: said * 0.5 + 0.25, "0.25|0.75"),
            (Y, lambda said: said * np.nan, "nan"),
            (Y, lambda said: np.full(len(said), None), "None"),
            (Y == 1, lambda said: said.astype(str), "'False'"),
            (WORDS, lambda said: said == "a", "True|False"),
            (WORDS, lambda said: said.astype("S1"), "b'a'"),
            (WORDS.astype(object), lambda said: said == "a", "True|False"),
        ]
    ),
    *((Other(share=lambda p: 2 * p), Y, loss, NO_SHARE % 1) for loss in ("log", "brier", "ece")),
    *(
        (Other(share=lambda p: p - 0.9), Y, loss, NO_SHARE % "-0")
        for loss in ("log", "brier", "ece")
    ),
    *((Other(share=cell(one)), Y, "brier", "non-finite") for one in (np.nan, np.inf, -np.inf)),
    *(
        (Other(share=share), Y, loss, said)
        for share, said in [
            (lambda p: p[:, 1:], rf"shape \(20, 1\) {ROWS}"),
            (lambda p: p[:, 1], rf"shape \(20,\) {ROWS}"),
            (lambda p: np.c_[p, p], rf"shape \(20, 4\) {ROWS}"),
            (lambda p: p[:-1], "19 answers for 20 rows"),
            (lambda p: None, "1 answers for 20 rows"),
        ]
        for loss in ("log", "auc")
    ),
    *(
        (
            Other(classes=one),
            WORDS,
            "log",
            r"says that its classes are \[.*\], and y holds 'a', 'b'",
        )
        for one in ([0, 1], ["x", "y"])
    ),
    (Other(classes="none"), Y, "log", "predict_proba and no classes_"),
    # targets and rows that changed places would be compared crosswise
    *(
        (Numbers(shape), y, None, said)
        for y, shape, said in [
            (X[:, :2], lambda p: p.T, "2 answers for 20 rows"),
            (X[:, :2], lambda p: p.ravel(), "40 answers for 20 rows"),
            (X[:, :2], lambda p: np.c_[p, p], r"shape \(20, 4\) for a y of shape \(20, 2\)"),
            (X[:, 0], lambda p: np.c_[p, p], "40 answers for 20 rows"),
            (X[:, 0], lambda p: p[:-1], "19 answers for 20 rows"),
            (X[:, 0], lambda p: None, "1 answers for 20 rows"),
        ]
    ),
]


@pytest.mark.parametrize(("model", "y", "loss", "said"), NO_ANSWERS)
def test_answers_that_can_be_none_are_refused(model, y, loss, said):
    with pytest.raises(TrueRiskError if said == "non-finite" else FitFailed, match=said):
        risk(model, y, loss)


def as_type(kind):
    return Other(label=lambda said: said.astype(kind))


TEXTS = [object]
if hasattr(getattr(np, "dtypes", None), "StringDType"):  # since NumPy 2
    TEXTS.append(np.dtypes.StringDType())


@pytest.mark.parametrize(
    ("model", "plain", "y", "loss"),
    [
        *(
            (
                Other(label=lambda said, kind=kind: said.astype(kind)[:, None]),
                Other(),
                Y,
                "zero-one",
            )
            for kind in (float, np.float32, np.uint8, object, bool)
        ),
        *((as_type(kind), Other(), WORDS, "zero-one") for kind in TEXTS),
        # what is outside of 0 and 1 may still rank
        (Other(share=lambda p: 2 * p), Other(), Y, "auc"),
        (Other(share=lambda p: p - 0.9), Other(), Y, "auc"),
        *(
            (model, Other(), WORDS, loss)
            for model in (Backwards(), Deciding())
            for loss in ("log", "brier", "auc", "average-precision", "zero-one")
        ),
        *(
            (Numbers(shape), Numbers(), X[:, 0], None)
            for shape in (lambda p: p[:, None], lambda p: p[None], lambda p: p.tolist())
        ),
    ],
)
def test_answers_in_another_form_are_the_same(model, plain, y, loss):
    """Another type, a column, another order of the classes, texts of any length."""
    assert risk(model, y, loss) == pytest.approx(risk(plain, y, loss), rel=1e-12)


@pytest.mark.parametrize("kind", [np.float16, np.float32])
def test_answers_of_a_coarse_type_sum_to_1(kind):
    """Not exactly, and nothing is said of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = risk(Other(share=lambda p: p.astype(kind)), scoring="brier")
    assert found == pytest.approx(risk(Other(), scoring="brier"), rel=0.01)


def test_answers_that_are_strange_are_counted_in_a_warning():
    """A label of y's kind that y lacks may be meant as a reject; shares may sum to less than 1."""
    with pytest.warns(TrueRiskWarning, match=r"first 7, for 20 of 20 rows.*3 times in 3 fits"):
        assert risk(Other(label=lambda said: said * 0 + 7)) == 1
    for loss in ("log", "brier"):
        with pytest.warns(
            TrueRiskWarning, match=r"20 of 20 rows do not sum to 1 .*first to 0\.5\)"
        ):
            assert risk(Other(share=lambda p: p / 2), Y, loss) > risk(Other(), Y, loss)


def test_answers_for_a_class_that_y_lacks_are_lost_to_the_rest():
    more = Other(classes=["a", "b", "c"], share=lambda p: np.c_[0.9 * p, np.full(len(p), 0.1)])
    expected = risk(Other(), WORDS, "log") - np.log(0.9)
    assert risk(more, WORDS, "log") == pytest.approx(expected)


# ---------------- However many scores read them

SCORES = ["brier", "auc", "zero-one", "f1", "roc_auc", "jaccard", "accuracy"]
CALLS = Counter()


class Slow(ClassifierMixin, BaseEstimator):
    """Counts what it is asked: it learns when it predicts, as TabPFN does."""

    def __init__(self, prior=0.5):
        self.prior = prior

    def fit(self, X, y):
        CALLS["fit"] += 1
        self.model_ = GaussianNB(priors=[1 - self.prior, self.prior]).fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        CALLS["predict"] += 1
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def predict_proba(self, X):
        CALLS["predict_proba"] += 1
        return self.model_.predict_proba(X)


GRID, PIPED = {"prior": [0.3, 0.5]}, make_pipeline(StandardScaler(), Slow())


@pytest.mark.parametrize(
    ("model", "grid", "times"),
    [
        (Slow(), None, (3, 3, 3)),
        (PIPED, None, (3, 3, 6)),  # its `predict` is asked about rows that the steps made anew
        (PIPED, {"slow__prior": [0.3, 0.5]}, (6, 6, 6)),  # with shared steps the learner answers
    ],
)
def test_asked_once_makes_answers_for_all_scores(model, grid, times):
    """Losses of ours and scorers of scikit-learn read the same ones, and are as they are alone."""
    CALLS.clear()
    found = tr.risk_curve(model, grid, X, Y, cv="3-fold", scoring=["log", *SCORES])
    assert (CALLS["fit"], CALLS["predict"], CALLS["predict_proba"]) == times
    for word in SCORES:
        alone = tr.risk_curve(model, grid, X, Y, cv="3-fold", scoring=word)
        assert np.array_equal(found.scores[word].values, alone.values)


def test_asked_once_asks_as_often_as_grid_search():
    """Six metrics of three folds: once the labels, once the probabilities."""
    words = ["accuracy", "roc_auc", "f1", "neg_log_loss", "jaccard", "average_precision"]
    given = {"scoring": words, "refit": "accuracy", "cv": 3}
    CALLS.clear()
    theirs = GridSearchCV(Slow(), GRID, **given).fit(X, Y)
    asked = Counter(CALLS)
    CALLS.clear()
    ours = tr.HonestSearchCV(Slow(), GRID, outer=None, **given).fit(X, Y)
    assert CALLS["predict"] == asked["predict"]
    assert CALLS["predict_proba"] <= asked["predict_proba"]
    for word in words:
        name = f"mean_test_{word}"
        assert ours.cv_results_[name] == pytest.approx(theirs.cv_results_[name], abs=1e-12)


def test_asked_once_gives_a_function_of_the_user_the_model_itself():
    """It may look at the model, or ask it about other rows: nothing stands in its place."""

    def score(model, X, y):
        assert "predict" not in vars(model)
        return float((model.predict(X) == y).mean())

    CALLS.clear()
    scores = {"log": "log", "own": score, "zero-one": "zero-one"}
    found = tr.estimate_risk(Slow(), X, Y, cv="3-fold", scoring=scores)
    assert found.scores["own"].value == pytest.approx(1 - found.scores["zero-one"].value)
    assert CALLS["predict"] == 6


def test_asked_once_remembers_the_very_rows_and_leaves_the_model_as_it_was():
    """Answers are nobody's to write into; a block may raise."""
    model = Slow().fit(X, Y)
    CALLS.clear()
    with predict_once((model, X), (model, X)):
        first = model.predict_proba(X)
        first[:] = 0
        assert model.predict_proba(X).sum() == pytest.approx(N)
        assert model.predict_proba(X[:5]).shape == (5, 2)
        assert get_scorer("neg_log_loss")(model, X, Y) > -1
    assert CALLS["predict_proba"] == 2
    with pytest.raises(ZeroDivisionError), predict_once((model, X), (model, X)):
        raise ZeroDivisionError
    assert not {"predict", "predict_proba"} & set(vars(model))


def test_pace_counts_predicting():
    """By a clock that runs while probabilities are made: fits of no time, answers that take it."""
    problem = problem_from_arguments(Family.from_grid(Slow(), GRID), X, Y, scoring=["log", *SCORES])
    plan = KFold(10).plan(problem.data, Streams(0))
    CALLS.clear()
    pace = measure_pace(problem, plan, clock=lambda: float(CALLS["predict_proba"]))
    CALLS.clear()
    problem.create_asking()(plan)
    assert CALLS["predict_proba"] == 20
    assert pace.seconds(plan.n_fits) == 20
