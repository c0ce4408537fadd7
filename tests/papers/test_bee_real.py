"""Training sets of real data: who is trained on, who is tested, and which rows are prepared how."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from truerisk.datasets import make_four_class
from truerisk.papers import bee_real as module
from truerisk.papers.bee_choosing import ORACLE, SHORT
from truerisk.papers.bee_real import LAST, RealSet, RealSetsFigure

X, Y = make_four_class(120, random_state=0)
ONE = RealSet("toy", (12, 40), repeats=2)


@pytest.fixture(autouse=True)
def rows(monkeypatch):
    """Four classes instead of a file; the last class has 3 rows, and the features have units."""
    kept = np.concatenate([np.flatnonzero(Y < 3), np.flatnonzero(Y == 3)[:3]])
    units = np.geomspace(0.1, 10, X.shape[1])
    monkeypatch.setattr(module, "_rows", lambda word: (X[kept] * units, Y[kept]))


def test_rows_that_are_not_drawn_are_tested():
    """Sizes as asked, two rows of the rare class at least, and nothing on both sides."""
    _, y = module._rows("toy")
    for number in range(20):
        train, test = ONE.split(np.random.default_rng(number), 12)
        assert len(train) == 12
        assert np.bincount(y[train], minlength=4).min() >= 2
        assert sorted([*train, *test]) == list(range(len(y)))


def test_a_fixed_split_is_kept():
    """Training rows come from the pool, and all other rows are tested."""
    one = replace(ONE, pool=60)
    train, test = one.split(np.random.default_rng(0), 20)
    assert train.max() < 60
    np.testing.assert_array_equal(test, np.arange(60, 93))
    whole, _ = replace(ONE, pool=93).split(np.random.default_rng(0), 93)
    np.testing.assert_array_equal(whole, np.arange(93))


def test_test_rows_are_prepared_as_the_training_rows():
    """The least error is that of the best pipeline, fitted and asked by itself."""
    draws = replace(ONE, sizes=(12,)).replicate(3, 1)
    rows, y = module._rows("toy")
    train, test = ONE.split(module.stream("toy 12", 3, 1), 12)
    for learner in ONE.learners:
        family = ONE.family(learner)
        models = [family.make(c).fit(rows[train], y[train]) for c in range(len(family))]
        errors = [(model.predict(rows[test]) != y[test]).mean() for model in models]
        assert draws[f"toy {learner} {ORACLE}"].tolist() == [min(errors)]


def test_both_learners_get_all_sizes():
    """Curves of both are equally long; no choice beats the oracle."""
    draws = ONE.replicate(0, 0)
    assert draws["toy LR CV-5"].shape == draws["toy SVM CV-5"].shape == (2,)
    assert [name for name, _ in ONE.grid({k: v[None] for k, v in draws.items()}, "LR").rows] == [
        "CV-5", "CV-10", "2×CV-5", "BEEp", "BEEi", "EBIC", ORACLE,
    ]  # fmt: skip
    for name in ONE.methods("LR"):
        assert (draws[f"toy LR {name}"] >= draws[f"toy LR {ORACLE}"]).all()


def test_a_figure_reports_every_set_and_learner():
    """A grid and a panel for each, the claims, and whether the paths converged."""

    class Toy(RealSetsFigure):
        word = title = "toy"
        replicates, quick = 3, 2
        sets = (ONE,)
        said = (("toy", "LR", "BEEp", "CV-5", 0), ("toy", "SVM", "CV-5", "BEEi", LAST))
        notes = ("a note.",)

    draws = {key: np.tile(value, (10, 1)) for key, value in ONE.replicate(0, 0).items()}
    draws["toy LR BEEp"] = draws["toy LR CV-5"] - 0.01 * np.arange(10, 20)[:, None]
    draws[f"toy LR {SHORT}"][0, 0] = 1
    found = Toy().findings(draws)
    assert [grid.columns for grid in found.tables] == [("n = 12", "n = 40")] * 2
    assert [panel.title for panel in found.figures[0].panels] == ["toy, LR", "toy, SVM"]
    assert [c.text for c in found.claims] == [
        "toy LR: BEEp lies below CV-5 at n = 12",
        "toy SVM: CV-5 lies below BEEi at n = 40",
    ]
    assert found.claims[0].verdict == "holds"
    assert found.notes[0] == "a note."
    assert "NOT CONVERGED: in 1 of 20 runs" in found.notes[1]
