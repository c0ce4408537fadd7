"""The generic engine is clone, fit, predict, and a fit that fails is named."""

import tracemalloc
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from tests.engines.closed_forms import plan_of
from tests.support.data import checked

import truerisk as tr
from truerisk.contracts import RunOptions
from truerisk.engines import Generic
from truerisk.exceptions import FitFailed, FitFailedWarning
from truerisk.extend import Family, Request, TrueRiskWarning
from truerisk.methods import KFold, Nested

RNG = np.random.default_rng(4)
N = 36
X = RNG.normal(size=(N, 3))
Y = np.array(["no", "so", "yes"])[RNG.integers(3, size=N)]
DATA = checked(X, Y)
FOLDS = np.arange(N) % 4
LABEL, PROBABILITY = Request("label"), Request("probability")


def run(model, plan, grid=None, request=PROBABILITY, data=DATA, **options):
    return Generic().run(Family.from_grid(model, grid), data, plan, request, RunOptions(**options))


def test_generic_draws_models_by_the_seed_and_alike_for_the_candidates_of_a_fit():
    """Two equal settings of a forest without a seed answer alike, in any place of the grid."""
    forest, plan = ExtraTreesClassifier(n_estimators=3), plan_of(KFold(3), DATA)
    values = run(forest, plan, {"max_depth": [2, 1, 2]}, seed=1).values
    assert np.array_equal(values[0], values[2])
    assert not np.array_equal(values[0], values[1])
    other = run(forest, plan, {"max_depth": [2, 1, 2]}, seed=0).values
    assert not np.array_equal(values[0], other[0])


@pytest.mark.parametrize("batch", [1, 2, 100])
def test_generic_batch_changes_nothing(batch):
    model = ExtraTreesClassifier(n_estimators=2)
    plain = tr.estimate_risk(model, X, Y, cv="4-fold")
    batched = tr.estimate_risk(model, X, Y, cv="4-fold", engine=Generic(batch=batch))
    assert np.array_equal(plain.losses, batched.losses)


def test_generic_says_a_warning_of_many_fits_once():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tr.estimate_risk(MLPClassifier((2,), max_iter=1), X, Y, cv="3-fold")
    assert [warning.category for warning in caught] == [ConvergenceWarning]
    assert "[3 times in 3 fits]" in str(caught[0].message)


class Constant(ClassifierMixin, BaseEstimator):
    """The cheapest model there is."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


class Unsorted(Constant):
    """A model whose classes are not in sorted order, and that never saw one of them."""

    def fit(self, X, y):
        self.classes_ = np.array(["yes", "no"])
        return self

    def predict(self, X):
        return np.full(len(X), "maybe")

    def predict_proba(self, X):
        return np.tile([0.9, 0.1], (len(X), 1))


def test_generic_puts_probabilities_under_their_classes():
    """Columns go by the model's own classes_, whatever their order; others have probability 0."""
    plan = plan_of(KFold(2), DATA)
    assert (run(Unsorted(), plan).values == [0.1, 0.0, 0.9]).all()
    two = checked(X, np.where(Y == "so", "yes", Y))
    assert (run(Unsorted(), plan, request=Request("score"), data=two).values == 0.9).all()


def test_generic_counts_a_label_that_y_does_not_hold_as_wrong():
    said = r"labels that y does not hold .*'maybe', for \d+ of \d+ rows: each counts as wrong"
    with pytest.warns(TrueRiskWarning, match=said):
        found = tr.estimate_risk(Unsorted(), X, Y, cv="3-fold")
    assert found.value == 1


def test_generic_answers_two_numbers_per_row_of_two_targets():
    targets = RNG.normal(size=(N, 2))
    found = tr.estimate_risk(Ridge(), X, targets, cv=KFold(folds=FOLDS), engine="generic")
    expected = np.full(N, np.nan)
    for k in range(4):
        model = Ridge().fit(X[k != FOLDS], targets[k != FOLDS])
        wrong = model.predict(X[k == FOLDS]) - targets[k == FOLDS]
        expected[k == FOLDS] = (wrong**2).mean(axis=1)
    assert found.losses == pytest.approx(expected)


def peak_of_leave_one_out(n):
    """The least peak of three runs, since other threads and first imports add to one."""
    data = checked(np.zeros((n, 2)), np.arange(n) % 2)
    plan, peaks = plan_of("loo", data), []
    for _ in range(3):
        tracemalloc.start()
        run(Constant(), plan, request=LABEL, data=data)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    return min(peaks)


def test_generic_memory_of_leave_one_out_grows_with_n():
    few, many = peak_of_leave_one_out(1000), peak_of_leave_one_out(2000)
    assert many < 2.6 * few
    assert many < 2e6  # n² booleans are 4 MB


# ---------------------------------------------------------------- fits that fail

FLAGS = {"flag": [False, True]}


def failing(where=X[0, 0]):
    """A model that fails if it does not see row 0, and only with flag=True (picklable by value)."""

    class Picky(ClassifierMixin, BaseEstimator):
        def __init__(self, flag=True):
            self.flag = flag

        def fit(self, X, y):
            if self.flag and where not in X[:, 0]:
                raise ArithmeticError("I want row 0\nand more lines")
            self.classes_ = np.unique(y)
            return self

        def predict(self, X):
            return np.full(len(X), self.classes_[0])

    return Picky()


@pytest.mark.parametrize("executor", [None, 2])
def test_generic_names_a_fit_that_fails_or_keeps_the_rest(executor):
    """The model, the parameters, the split and the reason; with 'warn' the others are unharmed."""
    asked = failing(), FLAGS, X, Y
    given = {"cv": KFold(folds=FOLDS), "n_jobs": executor}
    with pytest.raises(FitFailed) as caught:
        tr.risk_curve(*asked, **given)
    assert str(caught.value) == (
        "Picky (flag=True) failed in the test split (repeat 0, fold 0), fit 0 of 4 "
        "on 27 rows (n_features=3): ArithmeticError: I want row 0"
    )
    assert "Traceback" in caught.value.__notes__[0]
    with pytest.warns(FitFailedWarning, match="1 of 8 fits failed.*flag=True") as caught:
        curve = tr.risk_curve(*asked, **given, engine=Generic(error="warn"))
    assert len(caught) == 1
    assert np.isnan(curve.values).tolist() == [False, True]
    assert curve.best == 0
    assert (curve[1].value, curve[1].interval) == (None, None)
    assert "fold 0" in curve[1].notes[0]
    assert curve[0].value == np.mean(Y != "no")


def test_generic_keeps_the_note_of_a_single_model_that_fails():
    method, engine = KFold(folds=FOLDS), Generic(error="warn")
    with pytest.warns(FitFailedWarning):
        found = tr.estimate_risk(failing(), X, Y, cv=method, engine=engine)
    assert found.value is None
    assert "I want row 0" in found.notes[0]
    assert np.isnan(found.split_risks).tolist() == [True, False, False, False]


class Short(Constant):
    def predict(self, X):
        return self.classes_[:1]


NESTED = Nested(KFold(folds=FOLDS), KFold(folds=(np.arange(N) // 4) % 3))
OUTER = r"inner split \(repeat 0, fold 0, outer split 0\).*ArithmeticError"
SPREAD = "the model gave 1 answers for 12 rows"  # not spread over all of them silently


@pytest.mark.parametrize(
    ("model", "grid", "method", "error", "message"),
    [
        (failing(), FLAGS, NESTED, FitFailed, OUTER),
        (KNeighborsClassifier(30), None, "2-fold", ValueError, "n_neighbors"),
        (KNeighborsClassifier(30), None, "2-fold", FitFailed, "n_neighbors"),
        (Short(), None, "3-fold", FitFailed, SPREAD),
    ],
)
def test_generic_fails_as_callers_expect(model, grid, method, error, message):
    with pytest.raises(error, match=message):
        tr.risk_curve(model, grid, X, Y, cv=method)
