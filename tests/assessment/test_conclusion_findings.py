"""An assessment says what makes its answer fragile, and is silent where nothing does."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.feature_selection import SelectKBest
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import truerisk as tr
from truerisk.core.errors import DuplicateRowsWarning

KNN = KNeighborsClassifier(), {"n_neighbors": [1, 3, 5, 7, 9, 11, 13, 15]}


def found_in(X, y, learners=None, **options):
    """The assessment of two learners and the codes of its findings."""
    learners = learners or {"bayes": GaussianNB()}
    found = tr.assess(learners, X, y, cv=["3-fold"], outer="5-fold", **options)
    return found, [finding.code for finding in found.findings]


@pytest.fixture(scope="module")
def sound():
    """Two clear clouds of 300 rows."""
    return tr.datasets.make_simple(300, random_state=0)


def test_a_sound_answer_has_no_findings(sound):
    """Enough rows, clear classes, one setting: nothing is said."""
    found, codes = found_in(*sound)
    assert codes == []
    assert "[" not in str(found).splitlines()[-1]
    assert "interval-wide" not in codes
    assert "setting-unstable" not in codes


def test_few_rows_leave_the_risk_open():
    """An interval wider than a fifth says how many rows would halve it."""
    found, codes = found_in(*tr.datasets.make_simple(20, random_state=0))
    assert "interval-wide" in codes
    assert "About 80 rows" in str(found)


def test_folds_of_eight_rows_are_no_finding_of_an_assessment():
    """They are our own default on forty rows."""
    assert "few-rows-per-fold" not in found_in(*tr.datasets.make_simple(40, random_state=0))[1]


def test_a_class_of_few_rows_is_named(sound):
    """Eleven rows of a class are too few, twelve are not called so."""
    X, y = sound
    for size in (11, 12):
        kept = np.r_[np.flatnonzero(y == y[0]), np.flatnonzero(y != y[0])[:size]]
        _, codes = found_in(X[kept], y[kept])
        if size == 11:
            assert "few-events" in codes
        else:
            assert "few-events" not in codes


def test_a_setting_that_few_splits_choose_is_called_unstable():
    """On pure noise the outer splits choose now this, now that."""
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(60, 4)), np.arange(60) % 2
    codes = [found_in(X, y, {"knn": KNN}, random_state=seed)[1] for seed in range(4)]
    assert any("setting-unstable" in of_seed for of_seed in codes)


def test_leaks_are_found_with_the_names_of_their_columns(sound):
    """A column that tells y by itself is named as the file names it; copies are counted."""
    X, y = sound
    told = np.column_stack([X, y == y[0]])
    found, codes = found_in(told, y)
    assert "column-predicts-alone" in codes
    found = replace(found, column_names=("age", "size", "outcome code"))
    assert "outcome code" in found.findings[0].sentence
    with pytest.warns(DuplicateRowsWarning):
        _, codes = found_in(np.r_[X, X[:40]], np.r_[y, y[:40]])
    assert "duplicate-rows" in codes


def test_noise_with_selection_inside_is_not_shown_to_be_learned():
    """2000 columns of noise, 50 rows, the best 20 chosen inside the folds: nothing beats chance."""
    X, y = np.random.default_rng(0).normal(size=(50, 2000)), np.arange(50) % 2
    inside = make_pipeline(SelectKBest(k=20), KNeighborsClassifier())
    grid = {"kneighborsclassifier__n_neighbors": [1, 3, 5]}
    found, codes = found_in(X, y, {"knn": (inside, grid)})
    assert found.conclusion.startswith("knn is not shown to beat always answering")
    assert "selection-outside" not in codes


def test_noise_with_selection_outside_is_flagged():
    """The 20 columns of noise that fit these labels best look learnable, and are suspected."""
    X, y = np.random.default_rng(0).normal(size=(50, 2000)), np.arange(50) % 2
    best = SelectKBest(k=20).fit(X, y).transform(X)
    found, codes = found_in(best, y)
    assert found.learners["bayes"].risk.value < 0.2
    assert "selection-outside" in codes


def test_findings_are_recorded():
    """JSON and page carry code, severity, sentence and remedy."""
    found, codes = found_in(*tr.datasets.make_simple(20, random_state=0))
    assert [one["code"] for one in found.to_dict()["findings"]] == codes
    assert "leave the risk open" in found.to_html()


@pytest.mark.parametrize("outer", [".632", ".632+", "optimism", "bootstrap", "monte-carlo"])
def test_groups_that_every_sample_keeps_are_not_said_to_be_split(sound, outer):
    """A fit that is asked about rows it saw, as .632+ does besides, splits no group."""
    X, y = (part[:60] for part in sound)
    kind = outer if outer == "monte-carlo" else tr.methods.Bootstrap(outer, replicates=10)
    found = tr.assess(
        {"bayes": GaussianNB()}, X, y, cv=["3-fold"], outer=kind, groups=np.arange(60) // 3
    )
    assert "groups-split" not in [finding.code for finding in found.findings]
