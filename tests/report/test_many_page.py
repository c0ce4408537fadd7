"""The page of a comparison over data sets says what the comparison says, in one file."""

import json

import numpy as np
import pytest
from tests.report.conftest import draw_any, told
from tests.support.demsar import C45, DATA_SETS, METHODS

import truerisk as tr
from truerisk.core.formats import format_number
from truerisk.report.many_figures import draw_pair_differences, draw_ranks, draw_values_heat_map


@pytest.fixture
def content(compared):
    """Its JSON, to be changed."""
    return json.loads(compared.to_json())


def test_many_page_says_what_was_found(compared):
    """Conclusion, ranks, values, pairs, what is missing, the paragraph and its papers."""
    page = told(compared.to_html())
    for sentence in compared.conclusion:
        assert sentence in page
    for rank in compared.ranks:
        assert f"{rank:.3f}" in page
    for pair in compared.pairs:
        assert format_number(pair.difference) in page
        assert str(pair.interval) in page
    assert "1 of 56 values were missing; only the 13 data sets" in page
    assert compared.notes[0] in page
    for name in ("Demšar", "Iman", "Holm", "Hodges", "Benavoli"):
        assert name in page
    assert "better='higher'" in page


def test_ranks_figure_has_every_rank_and_bar(compared, content):
    """A point for each method at its rank; a bar for each group, as long as the group."""
    figure = draw_ranks(tr.ManyComparison.from_dict(content))
    assert [row[0] for row in figure.table.rows] == [name for name, _ in compared.ordered]
    x = figure.drawing.x
    spans = [mark for mark in figure.drawing.marks if getattr(mark, "kind", "") == "span"]
    *bars, rule = [tuple(mark.xs) for mark in spans]
    ranks = dict(compared.ordered)
    groups = [[ranks[name] for name in group] for group in compared.alike]
    assert bars == [(min(ends), max(ends)) for ends in groups]
    assert figure.svg.count("data-tip") == 4
    assert x.low <= 1
    assert rule == (1, 1 + compared.critical_difference)


def test_many_page_of_few_data_sets_is_their_table(compared):
    """Two problems have values and no ranks, tests, probabilities or critical difference."""
    few = tr.compare_many(C45[:2], better="higher", methods=METHODS, data_sets=DATA_SETS[:2])
    for text in (told(few.to_html()), str(few)):
        assert "2 data sets are too few to rank methods over them" in text
        for value in C45[:2].ravel():
            assert f"{value:.4f}" in text
        for word in ("critical difference", "Friedman", "average rank", "probab"):
            assert word not in text
    assert "critical difference" in told(compared.to_html())
    assert few.blocks()[0].head == ["method", *DATA_SETS[:2]]


@pytest.mark.parametrize(("better", "best"), [("higher", np.max), ("lower", np.min)])
def test_values_figure_frames_the_best(content, better, best):
    """One frame in each data set, more where they tie; what is missing has no cell."""
    content["terms"]["better"] = better
    figure = draw_values_heat_map(tr.ManyComparison.from_dict(content))
    frames = sum(int((row == best(row)).sum()) for row in np.delete(C45, 3, 0)) + 1
    assert figure.svg.count('class="frame"') == frames
    assert figure.svg.count('class="cell ') == 4 * 14 - 1
    assert ">cmc*<" in figure.svg
    assert figure.table.rows[3][2] == "–"


def test_effects_figure_has_intervals_and_the_region(content):
    figure = draw_pair_differences(tr.ManyComparison.from_dict(content))
    assert figure.svg.count("data-tip") == 6
    assert figure.svg.count('class="band s5"') == 1
    content["terms"]["rope"] = 0.0
    assert 'class="band' not in draw_pair_differences(tr.ManyComparison.from_dict(content)).svg


def test_many_page_cuts_what_cannot_be_read(wild):
    """80 data sets and 20 methods; ties everywhere and an endless F have a page, too."""
    page = draw_any(wild["many"])
    assert "Not drawn: 20 further data sets and 4 further methods" in page
    assert "150 further pairs are in the JSON" in page
    tied = told(tr.compare_many(np.ones((8, 3))).to_html())
    assert "all methods are tied on every data set" in tied
    alike = tr.compare_many(np.ones((6, 1)) * [1.0, 2.0, 3.0])
    assert "F(2, 10) = ∞" in told(alike.to_html())
