"""Figure 3: real data."""

from __future__ import annotations

from dataclasses import replace

import pytest

from truerisk.core.errors import BadData
from truerisk.datasets.documents import FOLDER, folder_of_documents
from truerisk.papers import bee_real, reproduce
from truerisk.papers.bee_figure_3 import bee_figure_3


def test_claims_are_about_sizes_that_are_drawn():
    """Every set, learner, method and place that a claim names is there."""
    sets = {one.word: one for one in bee_figure_3.sets}
    assert tuple(sets) == ("yeast", "satellite")
    for word, learner, low, high, place in bee_figure_3.said:
        assert {low, high} <= set(sets[word].methods(learner))
        assert sets[word].sizes[place] > 0


def test_the_smallest_training_sets_are_learned_from(monkeypatch):
    """On the real files, where they are: errors between 0 and 1, the oracle's least."""
    if folder_of_documents() is None:
        pytest.skip(f"{FOLDER} names no folder with the documents' data sets")
    few = tuple(replace(one, sizes=one.sizes[:1], repeats=0) for one in bee_figure_3.sets)
    monkeypatch.setattr(type(bee_figure_3), "sets", few)
    monkeypatch.setattr(type(bee_figure_3), "said", ())
    for grid in reproduce("bee-figure-3", replicates=2).findings.tables:
        means = {name: told[0][0] for name, told in grid.rows}
        assert 0 <= means["oracle"] == min(means.values())
        assert max(means.values()) < 1


def test_without_the_data_it_says_what_is_missing(monkeypatch):
    """Variable and file are named before anything is drawn."""
    bee_real._rows.cache_clear()
    monkeypatch.delenv(FOLDER, raising=False)
    with pytest.raises(BadData, match=r"'yeast' .* TRUERISK_DATA is not set: .* yeast\.csv\.gz"):
        reproduce("bee-figure-3", quick=True)
