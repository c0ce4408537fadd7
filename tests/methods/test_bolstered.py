"""Bolstered error: each training row is spread over a Gaussian before errors are counted."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from scipy.stats import chi
from sklearn.datasets import load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import truerisk as tr
from truerisk.contracts import Streams
from truerisk.core.errors import BadData, Refusal
from truerisk.data.data import Data
from truerisk.methods import BolsteredBySampling, bolstered
from truerisk.methods.bolstered import Bolstered, kernel_width
from truerisk.plan.plan import Plan
from truerisk.testing.cases import evaluate, two_classes

RNG = np.random.default_rng(0)
LABELS = np.arange(30) % 2
X = RNG.normal(size=(30, 3)) * [1, 5, 1] + np.outer(LABELS, [1.5, 0, 0])


@pytest.mark.parametrize("standardize", [True, False])
def test_equals_sampling(standardize):
    """40,000 points of the kernel at every row, each labelled by the rule, within 4 se."""
    found = tr.estimate_risk(
        LinearDiscriminantAnalysis(), X, LABELS, cv=Bolstered(standardize=standardize)
    )
    scale = X.std(axis=0) if standardize else np.ones(3)
    fitted = LinearDiscriminantAnalysis().fit(X, LABELS)
    wrong = np.zeros(40_000)
    for code in (0, 1):
        rows = X[code == LABELS]
        width = kernel_width(rows / scale)
        for row in rows:
            points = row + width * scale * RNG.normal(size=(40_000, 3))
            wrong += (fitted.predict(points) != code) / 30
    assert abs(wrong.mean() - found.value) < 4 * wrong.std() / np.sqrt(len(wrong))
    assert found.std_error is None


def test_the_width_is_the_mean_nearest_distance():
    """Over the median of chi with p degrees of freedom; a loop of blocks changes nothing."""
    for p in (1, 2, 40):
        rows = RNG.normal(100, 1, size=(25, p))
        nearest = NearestNeighbors(n_neighbors=2, algorithm="brute").fit(rows).kneighbors(rows)[0]
        expected = nearest[:, 1].mean() / chi(p).median()
        assert kernel_width(rows) == pytest.approx(expected)


def test_blocks_change_nothing(monkeypatch):
    """A few distances at a time give the same width."""
    rows = RNG.normal(size=(25, 3))
    whole = kernel_width(rows)
    monkeypatch.setattr(bolstered, "_BLOCK", 60)
    assert kernel_width(rows) == pytest.approx(whole, rel=1e-14)


def test_units_do_not_matter():
    """Standardised inside, features in other units have the same estimate."""
    found = [
        tr.estimate_risk(LinearDiscriminantAnalysis(), rows, LABELS, cv="bolstered").value
        for rows in (X, X * [1e-3, 1, 1e4] + 7)
    ]
    assert found[0] == pytest.approx(found[1])
    model = make_pipeline(StandardScaler(), LinearDiscriminantAnalysis())
    inside = tr.estimate_risk(model, X, LABELS, cv=Bolstered(standardize=False)).value
    assert inside == pytest.approx(found[0])


def test_copies_have_width_0():
    """Rows that lie on each other are not spread: their errors are counted."""
    rows = np.repeat([[0.0], [1.0], [2.0], [3.0]], 2, axis=0)
    y = np.array([0, 0, 1, 1, 0, 0, 1, 1])
    apparent = tr.estimate_risk(LinearDiscriminantAnalysis(), rows, y, cv="apparent").value
    found = tr.estimate_risk(LinearDiscriminantAnalysis(), rows, y, cv="bolstered").value
    assert found == pytest.approx(apparent)


def test_refusals():
    """One row of a class, another plan; a rule that is not linear has no closed form."""
    with pytest.raises(Refusal, match="one training row"):
        kernel_width(X[:1])
    case = two_classes()
    plan = tr.methods.as_method("apparent").plan(case.data, Streams(0))
    with pytest.raises(BadData, match="asks for no linear rules"):
        evaluate(Bolstered(), case, plan=plan)


def test_other_rules_are_sampled():
    """For nearest neighbours points are drawn; the result is named so and says why."""
    found = tr.estimate_risk(KNeighborsClassifier(), X, LABELS, cv=Bolstered(points=20))
    assert found.method == "bolstered (20 points)"
    assert "KNeighborsClassifier is not known to be a linear rule" in found.notes[0]
    kernels = tr.risk_curve(SVC(), {"kernel": ["linear", "rbf"]}, X, LABELS, cv="bolstered")
    assert kernels.common.method == "bolstered (100 points)"
    assert "kernel='rbf' is no linear rule" in kernels[0].notes[0]
    linear = tr.estimate_risk(SVC(kernel="linear"), X, LABELS, cv="bolstered")
    assert linear.method == "bolstered"


def test_several_classes_are_sampled():
    """Of three classes the shares of every Gaussian that fall to another class."""
    wine = load_wine(return_X_y=True)
    found = tr.estimate_risk(LinearDiscriminantAnalysis(), *wine, cv=Bolstered(points=20))
    assert 0 < found.value < 0.1
    assert any("20 points around each row" in note for note in found.notes)


RNG_SAMPLING = np.random.default_rng(0)
LABELS_SAMPLING = np.arange(30) % 2
X_SAMPLING = RNG_SAMPLING.normal(size=(30, 3)) * [1, 5, 1] + np.outer(LABELS_SAMPLING, [1.5, 0, 0])


@pytest.mark.parametrize("standardize", [True, False])
def test_sampling_comes_to_the_closed_form(standardize):
    """400 points around each row of a linear rule, within 4 of the stated standard errors."""
    method = BolsteredBySampling(400, standardize)
    found = tr.estimate_risk(LinearDiscriminantAnalysis(), X_SAMPLING, LABELS_SAMPLING, cv=method)
    exact = tr.estimate_risk(
        LinearDiscriminantAnalysis(),
        X_SAMPLING,
        LABELS_SAMPLING,
        cv=tr.methods.Bolstered(standardize),
    )
    error = float(found.notes[1].rsplit(" ", 1)[1])
    assert 0 < error < 0.01
    assert abs(found.value - exact.value) < 4 * error
    assert found.losses.mean() == found.value
    assert found.n_fits == 1


def test_points_are_those_of_the_plan():
    """By hand: the Gaussians of the seeds in the plan, asked of the fitted rule."""
    X_SAMPLING, y = load_wine(return_X_y=True)
    method, model = BolsteredBySampling(3), KNeighborsClassifier()
    plan = method.plan(Data.check(X_SAMPLING, y, task="classification"), Streams(0))
    scale, fitted, wrong = X_SAMPLING.std(axis=0), model.fit(X_SAMPLING, y), []
    for seed in plan.extra.seed:
        noise = np.random.default_rng(seed).standard_normal(X_SAMPLING.shape)
        width = [kernel_width((X_SAMPLING / scale)[y == c]) for c in range(3)]
        points = X_SAMPLING + noise * np.array(width)[y][:, None] * scale
        wrong.append(fitted.predict(points) != y)
    found = tr.estimate_risk(model, X_SAMPLING, y, cv=method)
    assert found.value == pytest.approx(np.mean(wrong))


def test_candidates_are_asked_about_the_same_points():
    """Twice the same setting is twice the same number, and a seed is a result."""
    curves = [
        tr.risk_curve(KNeighborsClassifier(), {"n_neighbors": [5, 5]}, X_SAMPLING, LABELS_SAMPLING,
                      cv=BolsteredBySampling(10), random_state=seed)
        for seed in (0, 0, 1)
    ]  # fmt: skip
    assert curves[0].values[0] == curves[0].values[1] == curves[1].values[0]
    assert curves[0].values[0] != curves[2].values[0]


def test_a_plan_is_stored_with_its_points():
    """From JSON, and cut to some of its questions, the same rows are moved in the same way."""
    plan = BolsteredBySampling(4).plan(
        Data.check(X_SAMPLING, LABELS_SAMPLING, task="classification"), Streams(0)
    )
    back = Plan.from_dict(json.loads(json.dumps(plan.to_dict())))
    rows = np.arange(30)
    for question in range(4):
        assert np.array_equal(
            back.extra.of_rows(question, rows), plan.extra.of_rows(question, rows)
        )
    some = plan.only(np.array([1, 3]))
    assert np.array_equal(some.extra.of_rows(1, rows[:5]), plan.extra.of_rows(3, rows[:5]))
    assert back.fingerprint == plan.fingerprint


def test_a_frame_keeps_its_columns():
    """A model fitted on named columns is asked about named columns; constant ones stay."""
    table = np.column_stack([X_SAMPLING, np.full(30, 7.0)])
    frame = pd.DataFrame(table, columns=list("abcd"))
    method = BolsteredBySampling(5)
    found = tr.estimate_risk(KNeighborsClassifier(), frame, LABELS_SAMPLING, cv=method)
    plain = tr.estimate_risk(KNeighborsClassifier(), table, LABELS_SAMPLING, cv=method)
    assert found.value == plain.value
    plan = method.plan(Data.check(table, LABELS_SAMPLING, task="classification"), Streams(0))
    assert not plan.extra.of_rows(0, np.arange(30))[:, 3].any()


REFUSED = {
    "text": (np.array([["a"], ["b"]] * 15, dtype=object), {}, "rows of numbers"),
    "sparse": (csr_matrix(X_SAMPLING), {}, "csr_matrix: give X.toarray"),
    "missing": (np.where(X_SAMPLING > 3, np.nan, X_SAMPLING), {}, "finite numbers"),
    "groups": (X_SAMPLING, {"groups": np.arange(30) // 2}, "ignore the groups"),
    "inside": (
        X_SAMPLING,
        {"cv": tr.methods.Nested("3-fold", BolsteredBySampling(5))},
        "inside outer",
    ),
    "other loss": (X_SAMPLING, {"scoring": "brier"}, "error rate"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refuses(what):
    """What cannot be moved, what would be ignored, and outer splits: each with a sentence."""
    rows, given, words = REFUSED[what]
    given = {"cv": BolsteredBySampling(5)} | given
    with pytest.raises((BadData, Refusal), match=words):
        tr.estimate_risk(KNeighborsClassifier(), rows, LABELS_SAMPLING, **given)


def test_around_rows_of_a_gram_matrix_there_are_no_points():
    """A learner that takes rows against rows is refused, by word and by hand."""
    for method in ("bolstered", BolsteredBySampling(5)):
        with pytest.raises(Refusal, match="there are no points"):
            tr.estimate_risk(
                SVC(kernel="precomputed"), X_SAMPLING @ X_SAMPLING.T, LABELS_SAMPLING, cv=method
            )


@pytest.mark.parametrize("points", [1, 2.5, True])
def test_points_are_a_number(points):
    """At least two, so that what the sampling leaves open is known."""
    with pytest.raises(BadData, match="at least 2"):
        BolsteredBySampling(points)
