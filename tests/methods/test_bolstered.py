"""Bolstered error: the closed form against sampling, the kernel width, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi
from sklearn.datasets import load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import truerisk as tr
from truerisk.core.contracts import Streams
from truerisk.core.errors import BadData, Refusal
from truerisk.methods.bolstered import Bolstered
from truerisk.methods.parts import bolstering_width as widths
from truerisk.methods.parts.bolstering_width import kernel_width
from truerisk.testing.cases import evaluate, two_classes

RNG = np.random.default_rng(0)
LABELS = np.arange(30) % 2
X = RNG.normal(size=(30, 3)) * [1, 5, 1] + np.outer(LABELS, [1.5, 0, 0])


@pytest.mark.parametrize("standardize", [True, False])
def test_equals_sampling(standardize):
    """40,000 points of the kernel at every row, each labelled by the rule, within 4 se."""
    found = tr.estimate_risk(
        LinearDiscriminantAnalysis(), X, LABELS, method=Bolstered(standardize=standardize)
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
    monkeypatch.setattr(widths, "_BLOCK", 60)
    assert kernel_width(rows) == pytest.approx(whole, rel=1e-14)


def test_units_do_not_matter():
    """Standardised inside, features in other units have the same estimate."""
    found = [
        tr.estimate_risk(LinearDiscriminantAnalysis(), rows, LABELS, method="bolstered").value
        for rows in (X, X * [1e-3, 1, 1e4] + 7)
    ]
    assert found[0] == pytest.approx(found[1])
    model = make_pipeline(StandardScaler(), LinearDiscriminantAnalysis())
    inside = tr.estimate_risk(model, X, LABELS, method=Bolstered(standardize=False)).value
    assert inside == pytest.approx(found[0])


def test_copies_have_width_0():
    """Rows that lie on each other are not spread: their errors are counted."""
    rows = np.repeat([[0.0], [1.0], [2.0], [3.0]], 2, axis=0)
    y = np.array([0, 0, 1, 1, 0, 0, 1, 1])
    apparent = tr.estimate_risk(LinearDiscriminantAnalysis(), rows, y, method="apparent").value
    found = tr.estimate_risk(LinearDiscriminantAnalysis(), rows, y, method="bolstered").value
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
    found = tr.estimate_risk(KNeighborsClassifier(), X, LABELS, method=Bolstered(points=20))
    assert found.method == "bolstered (20 points)"
    assert "KNeighborsClassifier is not known to be a linear rule" in found.notes[0]
    kernels = tr.risk_curve(SVC(), {"kernel": ["linear", "rbf"]}, X, LABELS, method="bolstered")
    assert kernels.common.method == "bolstered (100 points)"
    assert "kernel='rbf' is no linear rule" in kernels[0].notes[0]
    linear = tr.estimate_risk(SVC(kernel="linear"), X, LABELS, method="bolstered")
    assert linear.method == "bolstered"


def test_several_classes_are_sampled():
    """Of three classes the shares of every Gaussian that fall to another class."""
    wine = load_wine(return_X_y=True)
    found = tr.estimate_risk(LinearDiscriminantAnalysis(), *wine, method=Bolstered(points=20))
    assert 0 < found.value < 0.1
    assert any("20 points around each row" in note for note in found.notes)
