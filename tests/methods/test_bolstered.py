"""Bolstered error: each training row is spread over a Gaussian before errors are counted."""

from itertools import count

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
from tests.support.data import checked
from tests.support.plans import drawn

import truerisk as tr
from truerisk.extend import BadData, Refusal
from truerisk.methods import Bolstered, BolsteredBySampling, Nested, bolstered
from truerisk.methods.bolstered import kernel_width

RNG = np.random.default_rng(0)
Y = np.arange(30) % 2
X = RNG.normal(size=(30, 3)) * [1, 5, 1] + np.outer(Y, [1.5, 0, 0])
LDA, KNN = LinearDiscriminantAnalysis(), KNeighborsClassifier()


@pytest.mark.parametrize("standardize", [True, False])
def test_bolstered_is_what_sampling_comes_to(standardize):
    """20,000 points of the kernel at every row by hand, and 400 of the method, within 4 se."""
    found = tr.estimate_risk(LDA, X, Y, cv=Bolstered(standardize=standardize))
    scale = X.std(axis=0) if standardize else np.ones(3)
    fitted, wrong = LDA.fit(X, Y), np.zeros(20_000)
    for code in (0, 1):
        width = kernel_width(X[code == Y] / scale)
        for row in X[code == Y]:
            points = row + width * scale * RNG.normal(size=(20_000, 3))
            wrong += (fitted.predict(points) != code) / 30
    assert abs(wrong.mean() - found.value) < 4 * wrong.std() / np.sqrt(len(wrong))
    assert found.std_error is None
    sampled = tr.estimate_risk(LDA, X, Y, cv=BolsteredBySampling(400, standardize))
    error = float(sampled.notes[1].rsplit(" ", 1)[1])
    assert 0 < error < 0.01
    assert abs(sampled.value - found.value) < 4 * error
    assert sampled.losses.mean() == sampled.value
    assert sampled.n_fits == 1


@pytest.mark.parametrize("p", [1, 2, 40])
def test_kernel_width_is_the_mean_nearest_distance_over_the_median_of_chi(p, monkeypatch):
    """With p degrees of freedom; a few distances at a time give the same."""
    rows = RNG.normal(100, 1, size=(25, p))
    nearest = NearestNeighbors(n_neighbors=2, algorithm="brute").fit(rows).kneighbors(rows)[0]
    whole = kernel_width(rows)
    assert whole == pytest.approx(nearest[:, 1].mean() / chi(p).median())
    monkeypatch.setattr(bolstered, "_MAX_DISTANCES", 60)
    assert kernel_width(rows) == pytest.approx(whole, rel=1e-14)


def test_bolstered_does_not_depend_on_units():
    scaled = make_pipeline(StandardScaler(), LDA)
    one, moved, inside = (
        tr.estimate_risk(model, rows, Y, cv=cv).value
        for model, rows, cv in (
            (LDA, X, "bolstered"),
            (LDA, X * [1e-3, 1, 1e4] + 7, "bolstered"),
            (scaled, X, Bolstered(standardize=False)),
        )
    )
    assert one == pytest.approx(moved)
    assert one == pytest.approx(inside)


def test_bolstered_of_copies_is_the_apparent_risk():
    """Rows that lie on each other are not spread: their errors are counted."""
    rows, y = np.repeat([[0.0], [1.0], [2.0], [3.0]], 2, axis=0), np.array([0, 0, 1, 1] * 2)
    found, apparent = (
        tr.estimate_risk(LDA, rows, y, cv=m).value for m in ("bolstered", "apparent")
    )
    assert found == pytest.approx(apparent)


def test_bolstered_of_other_rules_is_sampled_and_says_why():
    """For nearest neighbours, curved kernels and three classes points are drawn."""
    found = tr.estimate_risk(KNN, X, Y, cv=Bolstered(points=20))
    assert found.method == "bolstered (20 points)"
    assert "KNeighborsClassifier is not known to be a linear rule" in found.notes[0]
    kernels = tr.risk_curve(SVC(), {"kernel": ["linear", "rbf"]}, X, Y, cv="bolstered")
    assert kernels.common.method == "bolstered (100 points)"
    assert "kernel='rbf' is no linear rule" in kernels[0].notes[0]
    linear = tr.estimate_risk(SVC(kernel="linear"), X, Y, cv="bolstered")
    assert linear.method == "bolstered"
    three = tr.estimate_risk(LDA, *load_wine(return_X_y=True), cv=Bolstered(points=20))
    assert 0 < three.value < 0.1
    assert any("20 points around each row" in note for note in three.notes)


def test_bolstered_points_are_those_of_the_plan():
    """By hand: the Gaussians of the seeds in the plan, asked of the fitted rule."""
    rows, y = load_wine(return_X_y=True)
    method, wrong, scale = BolsteredBySampling(3), [], rows.std(axis=0)
    width = np.array([kernel_width((rows / scale)[y == c]) for c in range(3)])
    for seed in drawn(method, checked(rows, y)).extra.seed:
        noise = np.random.default_rng(seed).standard_normal(rows.shape)
        points = rows + noise * width[y][:, None] * scale
        wrong.append(KNN.fit(rows, y).predict(points) != y)
    assert tr.estimate_risk(KNN, rows, y, cv=method).value == pytest.approx(np.mean(wrong))


def test_bolstered_points_are_the_same_for_all_candidates_of_a_seed():
    first, again, other = (
        tr.risk_curve(
            KNN, {"n_neighbors": [5, 5]}, X, Y, cv=BolsteredBySampling(10), random_state=seed
        ).values
        for seed in (0, 0, 1)
    )
    assert first[0] == first[1] == again[0] != other[0]


def test_bolstered_plan_keeps_its_points_when_it_is_cut():
    plan = drawn(BolsteredBySampling(4), checked(X, Y))
    rows, some = np.arange(30), plan.select(np.array([1, 3]))
    moved = plan.extra.row_shifts(3, rows)
    assert np.array_equal(some.extra.row_shifts(1, rows[:5]), moved[:5])


def test_bolstered_of_a_frame_keeps_columns_and_constant_ones_stay():
    """A model fitted on named columns is asked about named columns."""
    table, method = np.column_stack([X, np.full(30, 7.0)]), BolsteredBySampling(5)
    frame = pd.DataFrame(table, columns=list("abcd"))
    found, plain = (tr.estimate_risk(KNN, rows, Y, cv=method).value for rows in (frame, table))
    assert found == plain
    plan = drawn(method, checked(table, Y))
    assert not plan.extra.row_shifts(0, np.arange(30))[:, 3].any()


GRAM = {"model": SVC(kernel="precomputed"), "X": X @ X.T}
INSIDE = {"cv": Nested("3-fold", BolsteredBySampling(5))}


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"X": np.array([["a"], ["b"]] * 15, dtype=object)}, BadData, "rows of numbers"),
        ({"X": csr_matrix(X)}, (BadData, Refusal), "csr_matrix: give X.toarray"),
        ({"X": np.where(X > 3, np.nan, X)}, BadData, "finite numbers"),
        (INSIDE, Refusal, "inside outer"),
        ({"scoring": "brier"}, Refusal, "error rate"),
        (GRAM, Refusal, "there are no points"),
        (GRAM | {"cv": "bolstered"}, Refusal, "there are no points"),
    ],
    ids=count(),
)
def test_bolstered_refuses_what_cannot_be_moved(given, error, words):
    with pytest.raises(error, match=words):
        tr.estimate_risk(**{"model": KNN, "X": X, "y": Y, "cv": BolsteredBySampling(5)} | given)


def test_bolstered_refuses_a_single_row():
    with pytest.raises(Refusal, match="one training row"):
        kernel_width(X[:1])
