"""Published intervals beside ours: the problems are theirs, and the shares are counted right."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.published_intervals import PROBLEMS, WAYS, Cell, Outcome, drawn, main, rated

# mean and variance of y, known by integration; with 40,000 rows both are within three percent
KNOWN = {
    "bates_classif_20": (0.5, 0.25),
    "bates_classif_100": (0.5, 0.25),
    "bates_regr_20": (0.0, 6.0),
    "bates_regr_100": (0.0, 6.0),
    "friedman1": (14.41, 24.8),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_problem_has_the_moments_of_its_formula(name):
    """Columns as its name says, and y as its formula integrates to."""
    X, y = PROBLEMS[name](np.random.default_rng(0), 40_000)
    columns = {"bates_classif_20": 20, "bates_regr_20": 20, "friedman1": 10, "chen_10": 60}
    assert X.shape == (40_000, columns.get(name, 100))
    a, b, c = (np.arange(2000) + 0.5)[None] / 2000 * np.ones((3, 1))
    parts = np.exp(4 * a) / 4, 4 / (1 + np.exp(-20 * (b - 0.5))), 3 * c
    chen = sum(part.mean() for part in parts), sum(part.var() for part in parts) + 0.04
    mean, variance = KNOWN.get(name, chen)
    assert y.mean() == pytest.approx(mean, abs=0.03 * max(1, mean, variance**0.5))
    assert y.var() == pytest.approx(variance, rel=0.03)


def test_a_data_set_has_an_interval_of_every_way():
    """Its ends are in order, the risk is one, and the same seed draws the same."""
    cell = Cell("bates_classif_20", "linear", 40)
    found, again = (drawn(cell, 3) for _ in range(2))
    assert found.ends.shape == (len(WAYS), 2)
    assert (found.ends[:, 0] < found.ends[:, 1]).all()
    assert 0 < found.truth < 1
    assert again.ends.tolist() == found.ends.tolist()
    assert found.n_fits[:4].tolist() == [1, 25, 5, 10]


def test_both_targets_are_counted():
    """An interval may hold the mean risk and miss that of the model, or the other way round."""
    ends = np.array([[0.1, 0.35], [0.0, 0.32]])
    outcomes = [Outcome(truth, ends, np.array([1, 1])) for truth in (0.2, 0.4)]  # the mean is .3
    assert rated(outcomes) == pytest.approx(np.array([[0.5, 1, 0.25], [0.5, 1, 0.32]]))


def test_the_command_prints_a_line_for_each_cell_and_a_table(capsys):
    """Cells whose name holds a word are run."""
    assert main(["--sets", "2", "--rows", "30", "--only", "classif_20 linear"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("bates_classif_20 linear 30")
    assert [line.split(" | ")[0] for line in lines[3:]] == [f"| {name}" for name in WAYS]
