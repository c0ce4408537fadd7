"""Bolstered error by sampling: the closed form where there is one, the same points for all."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

import truerisk as tr
from truerisk.core.contracts import Streams
from truerisk.core.errors import BadData, Refusal
from truerisk.core.plan.plan import Plan
from truerisk.core.table.data import Data
from truerisk.methods import BolsteredBySampling
from truerisk.methods.parts.bolstering_width import kernel_width

RNG = np.random.default_rng(0)
LABELS = np.arange(30) % 2
X = RNG.normal(size=(30, 3)) * [1, 5, 1] + np.outer(LABELS, [1.5, 0, 0])


@pytest.mark.parametrize("standardize", [True, False])
def test_sampling_comes_to_the_closed_form(standardize):
    """400 points around each row of a linear rule, within 4 of the stated standard errors."""
    method = BolsteredBySampling(400, standardize)
    found = tr.estimate_risk(LinearDiscriminantAnalysis(), X, LABELS, method=method)
    exact = tr.estimate_risk(
        LinearDiscriminantAnalysis(), X, LABELS, method=tr.methods.Bolstered(standardize)
    )
    error = float(found.notes[1].rsplit(" ", 1)[1])
    assert 0 < error < 0.01
    assert abs(found.value - exact.value) < 4 * error
    assert found.losses.mean() == found.value
    assert found.n_fits == 1


def test_points_are_those_of_the_plan():
    """By hand: the Gaussians of the seeds in the plan, asked of the fitted rule."""
    X, y = load_wine(return_X_y=True)
    method, model = BolsteredBySampling(3), KNeighborsClassifier()
    plan = method.plan(Data.check(X, y, task="classification"), Streams(0))
    scale, fitted, wrong = X.std(axis=0), model.fit(X, y), []
    for seed in plan.moves.seed:
        noise = np.random.default_rng(seed).standard_normal(X.shape)
        width = [kernel_width((X / scale)[y == c]) for c in range(3)]
        points = X + noise * np.array(width)[y][:, None] * scale
        wrong.append(fitted.predict(points) != y)
    found = tr.estimate_risk(model, X, y, method=method)
    assert found.value == pytest.approx(np.mean(wrong))


def test_candidates_are_asked_about_the_same_points():
    """Twice the same setting is twice the same number, and a seed is a result."""
    curves = [
        tr.risk_curve(KNeighborsClassifier(), {"n_neighbors": [5, 5]}, X, LABELS,
                      method=BolsteredBySampling(10), random_state=seed)
        for seed in (0, 0, 1)
    ]  # fmt: skip
    assert curves[0].values[0] == curves[0].values[1] == curves[1].values[0]
    assert curves[0].values[0] != curves[2].values[0]


def test_a_plan_is_stored_with_its_points():
    """From JSON, and cut to some of its questions, the same rows are moved in the same way."""
    plan = BolsteredBySampling(4).plan(Data.check(X, LABELS, task="classification"), Streams(0))
    back = Plan.from_dict(json.loads(json.dumps(plan.to_dict())))
    rows = np.arange(30)
    for question in range(4):
        assert np.array_equal(back.moves.of(question, rows), plan.moves.of(question, rows))
    some = plan.only(np.array([1, 3]))
    assert np.array_equal(some.moves.of(1, rows[:5]), plan.moves.of(3, rows[:5]))
    assert back.fingerprint == plan.fingerprint


def test_a_frame_keeps_its_columns():
    """A model fitted on named columns is asked about named columns; constant ones stay."""
    table = np.column_stack([X, np.full(30, 7.0)])
    frame = pd.DataFrame(table, columns=list("abcd"))
    method = BolsteredBySampling(5)
    found = tr.estimate_risk(KNeighborsClassifier(), frame, LABELS, method=method)
    plain = tr.estimate_risk(KNeighborsClassifier(), table, LABELS, method=method)
    assert found.value == plain.value
    plan = method.plan(Data.check(table, LABELS, task="classification"), Streams(0))
    assert not plan.moves.of(0, np.arange(30))[:, 3].any()


REFUSED = {
    "text": (np.array([["a"], ["b"]] * 15, dtype=object), {}, "rows of numbers"),
    "sparse": (csr_matrix(X), {}, "csr_matrix: give X.toarray"),
    "missing": (np.where(X > 3, np.nan, X), {}, "finite numbers"),
    "groups": (X, {"groups": np.arange(30) // 2}, "ignore the groups"),
    "inside": (X, {"method": tr.methods.Nested("3-fold", BolsteredBySampling(5))}, "inside outer"),
    "other loss": (X, {"loss": "brier"}, "error rate"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refuses(what):
    """What cannot be moved, what would be ignored, and outer splits: each with a sentence."""
    rows, given, words = REFUSED[what]
    given = {"method": BolsteredBySampling(5)} | given
    with pytest.raises((BadData, Refusal), match=words):
        tr.estimate_risk(KNeighborsClassifier(), rows, LABELS, **given)


def test_around_rows_of_a_gram_matrix_there_are_no_points():
    """A learner that takes rows against rows is refused, by word and by hand."""
    for method in ("bolstered", BolsteredBySampling(5)):
        with pytest.raises(Refusal, match="there are no points"):
            tr.estimate_risk(SVC(kernel="precomputed"), X @ X.T, LABELS, method=method)


@pytest.mark.parametrize("points", [1, 2.5, True])
def test_points_are_a_number(points):
    """At least two, so that what the sampling leaves open is known."""
    with pytest.raises(BadData, match="at least 2"):
        BolsteredBySampling(points)
