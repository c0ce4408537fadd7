"""The measurement of the checks of structure, in its short form."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from benchmarks.structure import CODES, PARTS, find_codes, main, situations
from benchmarks.unseen import SCORES, SITUATIONS, lines, measure, measure_coverage

from benchmarks import unseen

BY_PART = {"copies": "near-copies", "order": "rows-in-order", "groups": "group-numbers"}


def test_situations_are_drawn_by_their_seed():
    """The same seed draws the same outcomes twice; the largest tables are left out."""
    for part, words, draw in situations():
        if any(n in words for n in ("000", "250", "500")):
            continue
        X, y, task = draw(np.random.default_rng(1))
        again = draw(np.random.default_rng(1))
        assert len(X) == len(y) >= 30, words
        assert task in ("classification", "regression")
        assert np.array_equal(y, again[1])
        assert part in PARTS


@pytest.mark.parametrize(
    "words",
    ["40 x 4, noise 0.2, 5 columns", "random walk, noise 1, 200 rows", "30 x 5, 10% flipped"],
)
def test_situations_of_the_bars_are_said(words):
    """The finding is made in at least five of six drawings."""
    (draw, code), *_ = ((d, BY_PART[p]) for p, w, d in situations() if w == words)
    drawings = (draw(np.random.default_rng(b)) for b in range(6))
    assert sum(code in find_codes(*drawing) for drawing in drawings) >= 5


def test_main_prints_shares(capsys):
    """There is one line for each situation, with the shares of the three codes."""
    assert main(["--drawings", "1", "--only", "order"]) == 0
    head, *rest = capsys.readouterr().out.splitlines()
    assert all(code in head for code in CODES)
    assert len(rest) == sum(part == "order" for part, *_ in situations())


def test_survey_reads_tables_of_a_folder(tmp_path, capsys):
    """The finding is printed of the table that has the number of a group, not of the other."""
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(40), 5)
    y = (rng.random(40) < 0.5)[group].astype(int)
    pd.DataFrame({"subject": group, "x": rng.random(200), "y": y}).to_csv(tmp_path / "a.csv")
    noise = pd.DataFrame(rng.random((200, 3)), columns=list("xyz"))
    noise.to_csv(tmp_path / "b.csv", index=False)
    assert main(["--tables", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "a.csv" in printed
    assert "b.csv" not in printed
    assert "of 2 tables: near-copies 0, rows-in-order 0, group-numbers 1" in printed


def test_unseen_situations_are_measured():
    """Two drawings tell a risk far below the true one, and both have the finding."""
    drawn = measure(SITUATIONS["copies"], 2)
    assert all(0 <= one.told < 0.2 < one.true for one in drawn)
    words, line = lines(SITUATIONS["copies"], drawn)
    assert "near copies" in words
    assert "the interval holds it in 0 of 2" in line
    assert "said in 2 of 2" in line


def test_unseen_coverage_counts_intervals_of_every_score():
    """With 60 events nearly all intervals hold the mean score, and none is missing."""
    counts = measure_coverage(60, 6)
    assert list(counts) == list(SCORES)
    assert all(4 <= held <= given == 6 for held, given in counts.values())


def test_unseen_prints_coverage_by_number_of_events(monkeypatch, capsys):
    """There is one line for each number of events, with all scores."""
    monkeypatch.setattr(unseen, "EVENTS", (12, 20))
    assert unseen.main(["--events", "--drawings", "1"]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("12 events: auc ")
    assert second.startswith("20 events: auc ")
    assert all(f"{score} " in first for score in SCORES)
