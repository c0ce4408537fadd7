"""Swapping equals flipping labels by hand, and its theorem holds by enumeration."""

from itertools import count, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from tests.support.data import NINE
from tests.support.plans import drawn

import truerisk as tr
from truerisk.contracts import RunOptions
from truerisk.engines import Generic, NearestNeighbours
from truerisk.extend import Data, Family, Request, Terms
from truerisk.losses import ZeroOne
from truerisk.methods import Swapping
from truerisk.models.stated.question import count_supporting_rows
from truerisk.plan.extras.counted import plan_label_flips
from truerisk.selection import Minimum
from truerisk.testing.toy_learners import NearestMean

X, Y = NINE
KS = [1, 3, 5, 7]
KNN = KNeighborsClassifier(3)
STUMP = DecisionTreeClassifier(max_depth=1, random_state=0)


def penalties(method, engine="auto"):
    """S for every k, with the apparent risk taken off."""
    risks = [
        tr.risk_curve(KNN, {"n_neighbors": KS}, X, Y, cv=cv, engine=engine).values
        for cv in (method, "apparent")
    ]
    return risks[0] - risks[1]


def by_refits(model, X, y, n0=10.0, weights=None):
    """Apparent risk and S from plain fits, each label flipped in turn."""
    given = {} if weights is None else {"sample_weight": weights}
    fitted = clone(model).fit(X, y, **given)
    n_x, p = count_supporting_rows(fitted, X, len(y)), fitted.predict_proba(X)[:, 1]
    p = (n_x * p + n0 / 2) / (n_x + n0)
    own, change = fitted.predict(X), np.zeros(len(y))
    for i in range(len(y)):
        labels = np.where(np.arange(len(y)) == i, 1 - y, y)
        other = clone(model).fit(X, labels, **given).predict(X[[i]])[0]
        change[i] = own[i] - other if y[i] == 1 else other - own[i]
    return np.average((own != y) + 2 * p * (1 - p) * change, weights=weights)


@pytest.mark.parametrize("engine", ["auto", "generic"])
@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("swapping", [0.4958677686, 0.3313609467, 0.2765432099, 0.1660899654]),
        (Swapping(n0=0), [0, 0.2962962963, 0.2666666667, 0.1632653061]),
        (
            Swapping(form="as-printed"),
            [0.4958677686, 0.4970414201, 0.3871604938, 0.3875432526],
        ),
    ],
    ids=str,
)
def test_swapping_has_the_golden_penalties(method, expected, engine):
    assert penalties(method, engine) == pytest.approx(expected, abs=5e-11)


@pytest.mark.parametrize("n0", [0, 5, 20])
def test_swapping_of_nearest_neighbours_is_their_closed_form(n0):
    """S_n(k) = (1 − 1/(k + n0)²)/(2n) · #{(k − 1)/2 of the other k − 1 are ones}."""
    expected = (1 - 1 / (np.array(KS) + n0) ** 2) / 18 * np.array([9, 6, 5, 3])
    assert penalties(Swapping(n0=n0)) == pytest.approx(expected, abs=1e-12)


@settings(max_examples=12, deadline=None)
@given(
    seed=st.integers(0, 2**31),
    kind=st.sampled_from(["plain", "copies", "grid"]),
    n0=st.sampled_from([0, 5.0, 10]),
)
def test_swapping_is_flipping_by_hand(seed, kind, n0):
    """Any data of two classes, copies and equal distances included, every odd k: to 1e-12."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 11))
    rows = rng.normal(size=(n, 2))
    rows = {"plain": rows, "copies": rows[rng.integers(n, size=n)], "grid": rows.round()}[kind]
    labels = np.append([0, 1], rng.integers(2, size=n - 2))
    ks = list(range(1, n + 1, 2))
    found = tr.risk_curve(KNN, {"n_neighbors": ks}, rows, labels, cv=Swapping(n0=n0))
    assert found[0].engine == "knn"
    for value, k in zip(found.values, ks, strict=True):
        expected = by_refits(KNeighborsClassifier(k), rows, labels, n0)
        assert value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    "model",
    [
        KNeighborsClassifier(5, weights="distance"),
        DecisionTreeClassifier(max_depth=2, random_state=0),
        LogisticRegression(),
        LinearDiscriminantAnalysis(),
        make_pipeline(StandardScaler(), KNN),
        tr.models.IntervalClassifier(3),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("engine", ["auto", "generic"])
def test_swapping_refits_any_classifier_of_two_classes(model, engine):
    """Trees, linear rules, intervals and pipelines: n + 1 fits, the same as by hand."""
    rng = np.random.default_rng(0)
    labels = rng.integers(2, size=31)
    rows, names = rng.normal(size=(31, 1)) + labels[:, None], np.array(["no", "yes"])[labels]
    found = tr.estimate_risk(model, rows, names, cv="swapping", engine=engine)
    assert found.value == pytest.approx(by_refits(model, rows, labels), abs=1e-12)
    assert found.n_fits == 32


def test_swapping_counts_weights_in_both_means():
    """Rows with weight 2 count like rows given twice in the means, not in n_x."""
    weights = np.array([2.0, 1, 1, 1, 1, 1, 1, 1, 1])
    found = tr.estimate_risk(STUMP, X, Y, cv="swapping", sample_weight=weights)
    assert found.value == pytest.approx(by_refits(STUMP, X, Y, weights=weights), abs=1e-12)


def all_labelings(n):
    """Every labelling of n rows; classes stay two where one is absent."""
    rows = np.random.default_rng(5).normal(size=(n, 2))
    for labels in product([0, 1], repeat=n):
        codes = np.array(labels)
        yield Data(rows, codes, "classification", np.array([0, 1]), codes)


def answers_of(engine, family, data, plan):
    return engine.run(family, data, plan, Request("label"), RunOptions())


NEIGHBOURS = Family.from_grid(KNN, {"n_neighbors": [1, 2, 3, 5, 6, 7]})


@pytest.mark.parametrize(
    ("engine", "family", "n"),
    [
        *(
            (Generic(), Family.from_grid(rule), 4)
            for rule in (
                *(KNeighborsClassifier(k) for k in (1, 3, 4)),
                DecisionTreeClassifier(random_state=0),
                STUMP,
                NearestMean(),
            )
        ),
        (Generic(), Family.from_grid(STUMP), 5),
        (NearestNeighbours(), NEIGHBOURS, 7),
    ],
    ids=count(),
)
def test_swapping_is_unbiased_over_all_labelings(engine, family, n):
    """Labels that are fair coins: the mean of C over all 2ⁿ labelings is ½, that of any rule."""
    method, terms, values = Swapping(n0=np.inf), Terms(0.95, Minimum(), len(family)), []
    for data in all_labelings(n):
        answers = answers_of(engine, family, data, drawn(method, data))
        values.append([t.value for t in method.reduce(answers, data, ZeroOne(), terms)])
    assert len(values) == 2**n
    assert np.mean(values, axis=0) == pytest.approx(np.full(len(family), 0.5), abs=1e-12)


@pytest.mark.parametrize("model", [KNN, KNeighborsClassifier(4), STUMP, NearestMean()], ids=str)
def test_swapping_theorem_1_holds_for_any_probabilities(model):
    """E[L_x − L_n] = (2/n) Σ p(1 − p) E[φ(x|1) − φ(x|0)], enumerated with unequal p's."""
    n, p = 4, np.array([0.05, 0.3, 0.6, 0.99])
    bias = penalty = 0.0
    for data in all_labelings(n):
        codes = data.codes
        answers = answers_of(Generic(), Family.from_grid(model), data, plan_label_flips(1 - codes))
        own, flipped = answers.values[0].astype(float).reshape(2, n)
        chance = np.prod(np.where(codes == 1, p, 1 - p))
        fresh = np.where(own == 1, 1 - p, p)
        bias += chance * np.mean(fresh - (own != codes))
        change = np.where(codes == 1, own - flipped, flipped - own)
        penalty += chance * 2 * np.mean(p * (1 - p) * change)
    assert penalty == pytest.approx(bias, abs=1e-12)


class Voiceless(ClassifierMixin, BaseEstimator):
    """States how many rows speak, by itself."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])

    def predict_proba(self, X):
        return np.full((len(X), len(self.classes_)), 1 / len(self.classes_))

    def rows_behind(self, X):
        return np.full(len(X), 4)


@pytest.mark.parametrize(
    ("model", "n", "basis"),
    [
        pytest.param(
            LogisticRegression(),
            8,
            ["n_x = 8: the probabilities are estimated from all rows"],
            id="all rows",
        ),
        pytest.param(KNN, 9, [], id="neighbours"),
        pytest.param(Voiceless(), 9, [], id="stated"),
    ],
)
def test_swapping_result_tells_both_parts_and_why_there_is_no_error(model, n, basis):
    """A note says that n0 hardly shrinks probabilities that are estimated from all n rows.

    There is no such note for neighbours, nor for a model whose `rows_behind(X)` states n_x.
    """
    found = tr.estimate_risk(model, X[:n], Y[:n], cv="swapping")
    assert (found.target, found.std_error, found.interval) == ("CER", None, None)
    parts, *between, unsure = found.notes
    assert parts.startswith("apparent risk 0.")
    assert "+ swapping penalty 0." in parts
    assert [note[: len(start)] for note, start in zip(between, basis, strict=True)] == basis
    assert "n_x" not in parts + unsure
    assert "no formula" in unsure


def test_swapping_without_probabilities_takes_the_worst_case():
    """n0 = ∞ takes p as ½; a calibrated model has probabilities of its own."""
    found = tr.estimate_risk(Perceptron(), X, Y, cv=Swapping(n0=np.inf))
    assert found.method == "swapping (n0=inf)"
    assert np.isfinite(found.value)
    calibrated = CalibratedClassifierCV(Perceptron(), cv=2)
    assert tr.estimate_risk(calibrated, X, Y, cv="swapping").n_fits == 10
