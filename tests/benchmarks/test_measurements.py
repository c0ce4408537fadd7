"""Measurements of pages in short: audits, best sets, learning curves, seconds, structure."""

import numpy as np
import pandas as pd
import pytest
from benchmarks.audit_selection import flagged, noise, selected

from benchmarks import audit_bias, best_set, learning_curves, seconds, structure, unseen
from truerisk.methods.parts import paired_losses
from truerisk.results.evaluation import CandidateLosses


@pytest.mark.parametrize("dependence", ["independent", "correlated"])
@pytest.mark.parametrize(("n", "c"), [(20, 5), (20, 100), (100, 20), (200, 100)])
def test_audit_bias_of_the_corrected_claim_is_nearly_0(n, c, dependence):
    """BBC within .05 at 20 rows and .02 from 100 on, and nearer to the truth than the claim.

    Pairs and nested within three standard errors of 0. The claim flatters in each situation.
    """
    measured = audit_bias.measure(audit_bias.Cell(n, c, dependence, "alike"), 120, seed=1)
    assert abs(measured.mean("bbc")) < (0.05 if n == 20 else 0.02)
    assert abs(measured.mean("bbc")) < abs(measured.mean("claim"))
    assert measured.mean("claim") < -0.02
    for level in ("pairs", "nested"):
        assert abs(measured.mean(level)) < 3 * measured.error(level)
    assert measured.mean("covered") > 0.93


def test_audit_bias_of_the_rough_correction_has_both_signs():
    """Far too optimistic for many rules on few rows, pessimistic for many rows."""
    few = audit_bias.measure(audit_bias.Cell(20, 100, "independent", "alike"), 60)
    many = audit_bias.measure(audit_bias.Cell(200, 20, "independent", "spread"), 60)
    assert few.mean("tt") < -0.1
    assert many.mean("tt") > 0.005


def test_audit_selection_suspects_selected_noise_alone():
    rng = np.random.default_rng(0)
    assert flagged(selected(50, "F"), 5, rng) == 5
    assert flagged(noise(20), 20, rng) == 0


@pytest.mark.parametrize(
    "cell", [best_set.Cell("patients", 60, "knn", 4), best_set.Cell("simple", 50)]
)
def test_best_set_draws_losses_and_risks_of_every_candidate(cell):
    """Shares add to 1, groups go along, and the same seed draws the same."""
    found = best_set.drawn(cell, 3)
    assert found.paired.losses.shape == (len(found.risks), cell.n)
    assert found.paired.row_weights.sum() == pytest.approx(1)
    assert (found.paired.groups is None) == (cell.problem == "simple")
    assert ((found.risks > 0) & (found.risks < 0.7)).all()
    assert best_set.drawn(cell, 3).risks.tolist() == found.risks.tolist()


@pytest.mark.parametrize("way", best_set.WAYS)
def test_best_set_keeps_the_winner_and_drops_the_hopeless_in_every_way(way):
    """Two candidates alike, one that is always wrong."""
    rows = np.random.default_rng(0).random((3, 80)) < 0.2
    losses = np.where([[True], [True], [False]], rows, 1.0)
    kept = best_set.WAYS[way](CandidateLosses(losses, np.full(80, 1 / 80)))
    assert kept[losses.mean(axis=1).argmin()]
    assert not kept[2]


def test_best_set_prints_a_line_for_each_problem(capsys):
    assert best_set.main(["--sets", "2", "--only", "label-noise 100, knn"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("label-noise 100, knn")
    assert len(lines) == 1 + len(best_set.WAYS)
    assert len({str(cell) for cell in best_set.CELLS}) == len(best_set.CELLS)


@pytest.mark.parametrize(("once", "covers"), [(None, True), (0.018, False)])
def test_learning_curves_band_covers_unless_its_variance_is_a_hundredth(monkeypatch, once, covers):
    """Of 6 data sets most bands hold the truth, inside and at four times the rows."""
    monkeypatch.setattr(learning_curves, "TEST_ROWS", 1500)
    monkeypatch.setattr(learning_curves, "MOST_DRAWINGS", 25)
    if not covers:
        monkeypatch.setattr(paired_losses, "SINGLE_DRAW_VARIANCE_FACTOR", once)
    cell = learning_curves.measure("difficult", "3-nn", 100, 6)
    if covers:
        assert cell.refused == 0
        assert (cell.coverage[1:] > 0.7).all()
        assert len(learning_curves.lines([cell])) == 4
    else:
        assert cell.refused or (cell.coverage[1:] < 0.7).all()


def test_seconds_has_the_fits_of_the_result(monkeypatch):
    """A search of four settings in pairs of ten folds takes 4 times 55 fits."""
    assert seconds.measured("wine", "naive Bayes", "10-fold", search=False)[0] == 10
    fits, took = seconds.measured("wine", "naive Bayes", "pairs", search=True)
    assert fits == 4 * 55
    assert took > 0
    monkeypatch.setattr(seconds, "LEARNERS", {"naive Bayes": seconds.LEARNERS["naive Bayes"]})
    monkeypatch.setattr(seconds, "METHODS", ("holdout", "10-fold"))
    monkeypatch.setattr(seconds, "SEARCHES", ("pairs",))
    lines = list(seconds.table("wine"))
    assert [line.count("|") for line in lines] == [3] * 5
    assert lines[3].startswith("| `10-fold` | 10, ")


def test_structure_situations_are_drawn_by_their_seed():
    """The largest tables are left out."""
    for part, words, draw in structure.situations():
        if any(n in words for n in ("000", "250", "500")):
            continue
        X, y, task = draw(np.random.default_rng(1))
        again = draw(np.random.default_rng(1))
        assert len(X) == len(y) >= 30, words
        assert task in ("classification", "regression")
        assert np.array_equal(y, again[1])
        assert part in structure.PARTS


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("40 x 4, noise 0.2, 5 columns", "near-copies"),
        ("random walk, noise 1, 200 rows", "rows-in-order"),
        ("30 x 5, 10% flipped", "group-numbers"),
    ],
)
def test_structure_situations_of_the_bars_are_found(words, code):
    """In at least five of six drawings."""
    draw, *_ = (draw for _, w, draw in structure.situations() if w == words)
    drawings = (draw(np.random.default_rng(b)) for b in range(6))
    assert sum(code in structure.find_codes(*drawing) for drawing in drawings) >= 5


def test_structure_prints_shares_for_each_situation(capsys):
    assert structure.main(["--drawings", "1", "--only", "order"]) == 0
    head, *rest = capsys.readouterr().out.splitlines()
    assert all(code in head for code in structure.CODES)
    assert len(rest) == sum(part == "order" for part, *_ in structure.situations())


def test_structure_reads_tables_of_a_folder(tmp_path, capsys):
    """The finding is printed of the table that has the number of a group, not of the other."""
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(40), 5)
    y = (rng.random(40) < 0.5)[group].astype(int)
    pd.DataFrame({"subject": group, "x": rng.random(200), "y": y}).to_csv(tmp_path / "a.csv")
    noise = pd.DataFrame(rng.random((200, 3)), columns=list("xyz"))
    noise.to_csv(tmp_path / "b.csv", index=False)
    assert structure.main(["--tables", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "a.csv" in printed
    assert "b.csv" not in printed
    assert "of 2 tables: near-copies 0, rows-in-order 0, group-numbers 1" in printed


def test_unseen_situations_are_measured():
    """Two drawings tell a risk far below the true one, and both have the finding."""
    drawn = unseen.measure(unseen.SITUATIONS["copies"], 2)
    assert all(0 <= one.told < 0.2 < one.true for one in drawn)
    words, line = unseen.lines(unseen.SITUATIONS["copies"], drawn)
    assert "near copies" in words
    assert "the interval holds it in 0 of 2" in line
    assert "said in 2 of 2" in line


def test_unseen_coverage_counts_intervals_of_every_score(monkeypatch, capsys):
    """With 60 events nearly all intervals hold the mean score, and none is missing."""
    counts = unseen.measure_coverage(60, 6)
    assert list(counts) == list(unseen.SCORES)
    assert all(4 <= held <= given == 6 for held, given in counts.values())
    monkeypatch.setattr(unseen, "EVENTS", (12, 20))
    assert unseen.main(["--events", "--drawings", "1"]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("12 events: auc ")
    assert second.startswith("20 events: auc ")
    assert all(f"{score} " in first for score in unseen.SCORES)
