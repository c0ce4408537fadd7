"""The last point of Figure 3: one training set, and draws of its folds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from truerisk.core.errors import BadData
from truerisk.datasets.documents import FOLDER
from truerisk.papers import bee_real, reproduce
from truerisk.papers.bee_figure_3_end import bee_figure_3_end
from truerisk.papers.running import draw_replicates


def test_all_training_rows_are_drawn_and_the_others_tested(monkeypatch):
    """The same rows in every replicate, whatever the random numbers."""
    (satellite,) = bee_figure_3_end.sets
    labels = np.arange(6435) % 6
    monkeypatch.setattr(bee_real, "_rows", lambda word: (np.zeros((6435, 1)), labels))
    for seed in range(2):
        train, test = satellite.split(np.random.default_rng(seed), satellite.sizes[0])
        assert train.tolist() == list(range(4435))
        assert test.tolist() == list(range(4435, 6435))


def test_claims_are_about_methods_that_are_run():
    """Five folds and both Bayesian estimates, for either learner; nothing else costs time."""
    (satellite,) = bee_figure_3_end.sets
    for learner in ("LR", "SVM"):
        assert list(satellite.methods(learner)) == ["CV-5", "BEEp", "BEEi"]
    for word, learner, low, high, _ in bee_figure_3_end.said:
        assert (word, low) == ("satellite", "CV-5")
        assert high in satellite.methods(learner)


def test_only_the_folds_differ_between_replicates(monkeypatch):
    """Bayesian choices and the oracle are the same; one size is no figure."""
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = rng.normal(size=(90, 2)) + 2 * np.eye(3)[y][:, :2]
    monkeypatch.setattr(bee_real, "_rows", lambda word: (X, y))
    (satellite,) = bee_figure_3_end.sets
    few = replace(satellite, sizes=(60,), pool=60)
    monkeypatch.setattr(type(bee_figure_3_end), "sets", (few,))
    draws = draw_replicates(bee_figure_3_end, 3)
    for name, errors in draws.items():
        assert np.ptp(errors) == 0 or name.endswith("CV-5"), name
    found = bee_figure_3_end.findings(draws)
    assert found.figures == ()
    assert {claim.verdict for claim in found.claims} == {"undecided"}


def test_without_the_data_it_says_what_is_missing(monkeypatch):
    """Variable and files are named before anything is drawn."""
    bee_real._rows.cache_clear()
    monkeypatch.delenv(FOLDER, raising=False)
    with pytest.raises(BadData, match="'satellite' .* satellite_train.csv.gz and satellite_test"):
        reproduce("bee-figure-3-end", quick=True)
