"""Swapping equals flipping labels by hand, and its theorem holds by enumeration."""

from __future__ import annotations

from itertools import product

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

import truerisk as tr
from truerisk.contracts import Request, RunOptions, Streams, Terms
from truerisk.core.errors import BadData, Refusal, UnknownName
from truerisk.core.family import Family
from truerisk.data.data import Data
from truerisk.engines.generic import Generic
from truerisk.losses.row_losses import ZeroOne
from truerisk.methods import Swapping
from truerisk.models.stated.question import rows_behind
from truerisk.plan.extras.counted import flip_each
from truerisk.selection.rules import Minimum
from truerisk.testing.toy_learners import NearestMean

X = np.array([1, 2, 4, 8, 13, 21, 31, 45, 66.0])[:, None]
Y = np.array([0, 0, 1, 0, 1, 1, 0, 1, 1])
KS = [1, 3, 5, 7]
ENGINES = ["auto", "generic"]
RULES = [
    KNeighborsClassifier(1),
    KNeighborsClassifier(3),
    KNeighborsClassifier(4),
    DecisionTreeClassifier(random_state=0),
    DecisionTreeClassifier(max_depth=1, random_state=0),
    NearestMean(),
]


def curve(method, engine="auto", **options):
    return tr.risk_curve(
        KNeighborsClassifier(), {"n_neighbors": KS}, X, Y, cv=method, engine=engine, **options
    )


def penalties(method, engine="auto"):
    """S for every k, with the apparent risk taken off."""
    return curve(method, engine).values - curve("apparent", engine).values


def by_hand(model, X, y, n0=10.0):
    """Apparent risk and S from plain fits, each label flipped in turn."""
    fitted = clone(model).fit(X, y)
    p = fitted.predict_proba(X)[:, 1]
    n_x = rows_behind(fitted, X, len(y))
    shrunken = (n_x * p + n0 / 2) / (n_x + n0)
    own, change = fitted.predict(X), np.zeros(len(y))
    for i in range(len(y)):
        labels = y.copy()
        labels[i] = 1 - y[i]
        other = clone(model).fit(X, labels).predict(X[[i]])[0]
        change[i] = own[i] - other if y[i] == 1 else other - own[i]
    apparent = np.mean(own != y)
    return apparent, 2 * np.mean(shrunken * (1 - shrunken) * change)


@pytest.mark.parametrize("engine", ENGINES)
def test_golden(engine) -> None:
    """METHODS §2: S of 1, 3, 5 and 7 neighbours, with n0 = 10 and 0, exact and as printed."""
    assert penalties("swapping", engine) == pytest.approx(
        [0.4958677686, 0.3313609467, 0.2765432099, 0.1660899654], abs=5e-11
    )
    assert penalties(Swapping(n0=0), engine) == pytest.approx(
        [0, 0.2962962963, 0.2666666667, 0.1632653061], abs=5e-11
    )
    assert penalties(Swapping(form="as-printed"), engine) == pytest.approx(
        [0.4958677686, 0.4970414201, 0.3871604938, 0.3875432526], abs=5e-11
    )


@pytest.mark.parametrize("n0", [0, 5, 10, 20])
def test_closed_form_of_nearest_neighbours(n0) -> None:
    """S_n(k) = (1 − 1/(k + n0)²)/(2n) · #{(k − 1)/2 of the other k − 1 are ones}."""
    swaps = np.array([9, 6, 5, 3])
    expected = (1 - 1 / (np.array(KS) + n0) ** 2) / 18 * swaps
    assert penalties(Swapping(n0=n0)) == pytest.approx(expected, abs=1e-12)


@settings(max_examples=12, deadline=None)
@given(
    seed=st.integers(0, 2**31),
    kind=st.sampled_from(["plain", "copies", "grid"]),
    n0=st.sampled_from([0, 5.0, 10]),
)
def test_it_is_flipping_by_hand(seed, kind, n0) -> None:
    """Any data of two classes, copies and equal distances included, every odd k: to 1e-12."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 11))
    rows = rng.normal(size=(n, 2))
    if kind == "copies":
        rows = rows[rng.integers(n, size=n)]
    if kind == "grid":
        rows = rows.round()
    labels = np.append([0, 1], rng.integers(2, size=n - 2))
    ks = list(range(1, n + 1, 2))
    found = tr.risk_curve(
        KNeighborsClassifier(), {"n_neighbors": ks}, rows, labels, cv=Swapping(n0=n0)
    )
    assert found[0].engine == "knn"
    for value, k in zip(found.values, ks):
        expected = sum(by_hand(KNeighborsClassifier(k), rows, labels, n0))
        assert value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    "model",
    [
        KNeighborsClassifier(5, weights="distance"),
        DecisionTreeClassifier(max_depth=2, random_state=0),
        LogisticRegression(),
        LinearDiscriminantAnalysis(),
        make_pipeline(StandardScaler(), KNeighborsClassifier(3)),
        tr.models.IntervalClassifier(3),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("engine", ENGINES)
def test_any_classifier_of_two_classes_is_refitted(model, engine) -> None:
    """Trees, linear rules, intervals and pipelines: n + 1 fits, the same as by hand."""
    rng = np.random.default_rng(0)
    labels = rng.integers(2, size=31)
    rows = rng.normal(size=(31, 1)) + labels[:, None]
    names = np.array(["no", "yes"])[labels]
    found = tr.estimate_risk(model, rows, names, cv="swapping", engine=engine)
    assert found.value == pytest.approx(sum(by_hand(model, rows, labels)), abs=1e-12)
    assert found.n_fits == 32


def all_labelings(n):
    """Every labelling of n rows; classes stay two where one is absent."""
    rows = np.random.default_rng(5).normal(size=(n, 2))
    for labels in product([0, 1], repeat=n):
        codes = np.array(labels)
        yield Data(rows, codes, "classification", np.array([0, 1]), codes)


@pytest.mark.parametrize(("model", "n"), [*((rule, 4) for rule in RULES), (RULES[4], 5)], ids=str)
def test_the_criterion_is_unbiased_over_all_labelings(model, n) -> None:
    """Labels that are fair coins: the mean of C over all 2ⁿ labelings is ½, that of any rule."""
    method, terms = Swapping(n0=np.inf), Terms(0.95, Minimum())
    values = []
    for data in all_labelings(n):
        plan = method.plan(data, Streams(0))
        answers = Generic().run(Family.of(model), data, plan, Request("label"), RunOptions())
        values.append(method.reduce(answers, data, ZeroOne(), terms)[0].value)
    assert len(values) == 2**n
    assert np.mean(values) == pytest.approx(0.5, abs=1e-12)


@pytest.mark.parametrize("model", [*RULES[1:3], RULES[4], RULES[5]], ids=str)
def test_theorem_1_for_any_probabilities(model) -> None:
    """E[L_x − L_n] = (2/n) Σ p(1 − p) E[φ(x|1) − φ(x|0)], enumerated with unequal p's."""
    n, p = 4, np.array([0.05, 0.3, 0.6, 0.99])
    bias = penalty = 0.0
    for data in all_labelings(n):
        codes = data.codes
        answers = Generic().run(
            Family.of(model), data, flip_each(1 - codes), Request("label"), RunOptions()
        )
        own, flipped = answers.values[0, :n].astype(float), answers.values[0, n:].astype(float)
        chance = np.prod(np.where(codes == 1, p, 1 - p))
        fresh = np.where(own == 1, 1 - p, p)
        bias += chance * np.mean(fresh - (own != codes))
        change = np.where(codes == 1, own - flipped, flipped - own)
        penalty += chance * 2 * np.mean(p * (1 - p) * change)
    assert penalty == pytest.approx(bias, abs=1e-12)


def test_theorem_1_for_all_k_of_seven_rows() -> None:
    """The closed form of nearest neighbours over all 2⁷ labelings: every k, to 1e-12."""
    from truerisk.engines.neighbours.knn import NearestNeighbours

    family = Family.of(KNeighborsClassifier(), {"n_neighbors": [1, 2, 3, 5, 6, 7]})
    method, terms = Swapping(n0=np.inf), Terms(0.95, Minimum(), len(family))
    values = []
    for data in all_labelings(7):
        plan = method.plan(data, Streams(0))
        answers = NearestNeighbours().run(family, data, plan, Request("label"), RunOptions())
        values.append([t.value for t in method.reduce(answers, data, ZeroOne(), terms)])
    assert np.mean(values, axis=0) == pytest.approx(np.full(6, 0.5), abs=1e-12)


def test_what_a_result_says() -> None:
    """The conditional risk, both parts, why there is no error, and where n0 hardly shrinks."""
    found = tr.estimate_risk(LogisticRegression(), X[:8], Y[:8], cv="swapping")
    assert (found.target, found.std_error, found.interval) == ("CER", None, None)
    parts, basis, unsure = found.notes
    assert parts.startswith("apparent risk 0.")
    assert "+ swapping penalty 0." in parts
    assert basis.startswith("n_x = 8: the probabilities rest on all rows")
    assert "no formula" in unsure
    assert len(curve("swapping")[1].notes) == 2


def test_weights_count_in_both_means() -> None:
    """Rows with weight 2 count like rows given twice in the means, not in n_x."""
    weights = np.array([2.0, 1, 1, 1, 1, 1, 1, 1, 1])
    model = DecisionTreeClassifier(max_depth=1, random_state=0)
    found = tr.estimate_risk(model, X, Y, cv="swapping", sample_weight=weights)

    def fitted(labels):
        return clone(model).fit(X, labels, sample_weight=weights)

    own = fitted(Y)
    n_x, p = rows_behind(own, X, 9), own.predict_proba(X)[:, 1]
    p = (n_x * p + 5) / (n_x + 10)
    other = np.array(
        [fitted(np.where(np.arange(9) == i, 1 - Y, Y)).predict(X[[i]])[0] for i in range(9)]
    )
    change = np.where(Y == 1, own.predict(X) - other, other - own.predict(X))
    rowwise = (own.predict(X) != Y) + 2 * p * (1 - p) * change
    assert found.value == pytest.approx(np.average(rowwise, weights=weights), abs=1e-12)


def test_it_selects_inside_outer_splits() -> None:
    """HonestSearchCV(cv="swapping"): the inner criterion is that of the outer rows alone."""
    X2, y2 = tr.datasets.make_simple(40, random_state=0)
    ks = {"n_neighbors": [1, 5, 15]}
    search = tr.HonestSearchCV(KNeighborsClassifier(), ks, cv="swapping", outer="4-fold")
    search.fit(X2, y2)
    generic = clone(search).set_params(engine="generic").fit(X2, y2)
    for ours, theirs in zip(search.outer_, generic.outer_):
        assert ours.params == theirs.params
        assert ours.inner_risk == pytest.approx(theirs.inner_risk, abs=1e-12)
    plan = tr.methods.as_method("4-fold").plan(
        Data.check(X2, y2, task="classification"), Streams(0).child("outer")
    )
    seen = plan.train_rows(0)[0]
    inner = tr.risk_curve(KNeighborsClassifier(), ks, X2[seen], y2[seen], cv="swapping")
    assert search.outer_[0].inner_risk == pytest.approx(min(inner.values), abs=1e-12)


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


def test_a_learner_may_state_its_own_number_of_rows() -> None:
    """`rows_behind(X)` of a fitted model is n_x."""
    found = tr.estimate_risk(Voiceless(), X, Y, cv="swapping")
    assert "n_x" not in " ".join(found.notes)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"y": np.arange(9) % 3}, "two classes and y has 3.*one class against the others"),
        ({"scoring": "brier"}, "zero-one loss, not for 'brier'.*'loo'"),
        ({"groups": Y}, "would ignore the groups"),
        ({"model": Perceptron()}, "Perceptron estimates no probability.*Calibrated.*math.inf"),
        (
            {"model": LogisticRegression(), "cv": Swapping(form="as-printed")},
            "nearest neighbours with odd k.*form='exact'",
        ),
        (
            {"model": KNeighborsClassifier(4), "cv": Swapping(form="as-printed")},
            "nearest neighbours with odd k",
        ),
        ({"cv": tr.methods.Nested("swapping")}, "cannot be the outer method"),
    ],
)
def test_what_the_document_does_not_define_is_refused(options, message) -> None:
    """More classes, other losses, groups, no probabilities, the printed rule beyond its place."""
    given = {"model": KNeighborsClassifier(3), "X": X, "y": Y, "cv": "swapping"} | options
    with pytest.raises(Refusal, match=message):
        tr.estimate_risk(**given)


def test_without_probabilities_the_worst_case_remains() -> None:
    """n0 = ∞ takes p as ½; a calibrated model has probabilities of its own."""
    found = tr.estimate_risk(Perceptron(), X, Y, cv=Swapping(n0=np.inf))
    assert found.method == "swapping (n0=inf)"
    assert np.isfinite(found.value)
    calibrated = CalibratedClassifierCV(Perceptron(), cv=2)
    assert tr.estimate_risk(calibrated, X, Y, cv="swapping").n_fits == 10


def test_wrong_options_are_named() -> None:
    """A form or an n0 that does not exist."""
    with pytest.raises(UnknownName, match="form='printed' is unknown"):
        Swapping(form="printed")
    with pytest.raises(BadData, match="n0=-1"):
        Swapping(n0=-1)


def test_a_failed_fit_leaves_its_candidate_without_value() -> None:
    """With failures kept, the others have their values and the failed one says why."""
    family = {"n_neighbors": [3, 20]}
    with pytest.warns(tr.core.errors.FitFailedWarning):
        found = tr.risk_curve(
            KNeighborsClassifier(), family, X, Y, cv="swapping", engine=Generic("warn")
        )
    assert np.isfinite(found.values[0])
    assert found[1].value is None
    assert "fits failed" in found[1].notes[0]
