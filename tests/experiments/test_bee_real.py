"""Training sets of real data: who is trained on, who is tested, which rows are prepared how."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from truerisk.datasets import make_four_class
from truerisk.datasets.documents import FOLDER, folder_of_documents
from truerisk.experiments import bee_real
from truerisk.experiments import bee_real as module
from truerisk.experiments.bee_choosing import ORACLE, SHORT
from truerisk.experiments.bee_real import (
    BEE_FIGURE_2,
    BEE_FIGURE_3,
    BEE_FIGURE_3_END,
    FEWEST,
    MOST,
    RealSet,
    RealSetsFigure,
)
from truerisk.experiments.figures import Panel
from truerisk.experiments.reproducing import draw_replicates

X, Y = make_four_class(120, random_state=0)
ONE = RealSet("toy", (12, 40), 93, names=("CV-5", "CV-10", "2×CV-5", "BEEp", "BEEi", "EBIC"))

METHODS = ONE.learners["toy LR"][1]


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
    one = replace(ONE, pool=60, fixed=True)
    train, test = one.split(np.random.default_rng(0), 20)
    assert train.max() < 60
    np.testing.assert_array_equal(test, np.arange(60, 93))
    whole, _ = replace(ONE, fixed=True).split(np.random.default_rng(0), 93)
    np.testing.assert_array_equal(whole, np.arange(93))


def test_test_rows_are_prepared_as_the_training_rows():
    """The least error is that of the best pipeline, fitted and asked by itself."""
    draws = replace(ONE, sizes=(12,)).replicate(3, 1)
    rows, y = module._rows("toy")
    train, test = ONE.split(module.stream("toy 12", 3, 1), 12)
    for learner, (family, _) in ONE.learners.items():
        models = [family.make(c).fit(rows[train], y[train]) for c in range(len(family))]
        errors = [(model.predict(rows[test]) != y[test]).mean() for model in models]
        assert draws[f"{learner} {ORACLE}"].tolist() == [min(errors)]


def test_both_learners_get_all_sizes():
    """Curves of both are equally long; no choice beats the oracle."""
    draws = ONE.replicate(0, 0)
    assert draws["toy LR CV-5"].shape == draws["toy SVM CV-5"].shape == (2,)
    grid, *_ = ONE.contents({name: errors[None] for name, errors in draws.items()})
    assert [row.name for row in grid.rows] == [
        "CV-5", "CV-10", "2×CV-5", "BEEp", "BEEi", "EBIC", ORACLE,
    ]  # fmt: skip
    for name in METHODS:
        assert (draws[f"toy LR {name}"] >= draws[f"toy LR {ORACLE}"]).all()


def test_a_figure_reports_every_set_and_learner():
    """A grid and a panel for each, the claims, and whether the paths converged."""
    claims = (("toy LR", "BEEp", "CV-5", FEWEST), ("toy SVM", "CV-5", "BEEi", MOST))
    toy = RealSetsFigure("toy", "Toys", (ONE,), claims, "a note.", 2)
    draws = {key: np.tile(value, (10, 1)) for key, value in ONE.replicate(0, 0).items()}
    draws["toy LR BEEp"] = draws["toy LR CV-5"] - 0.01 * np.arange(10, 20)[:, None]
    draws[f"toy LR {SHORT}"][0, 0] = 1
    found = toy.findings(draws)
    assert [grid.columns for grid in found.tables] == [("n = 12", "n = 40")] * 2
    panels = found.figures[0].panels
    titles = ["toy, LR", "toy, LR: beyond the oracle", "toy, SVM", "toy, SVM: beyond the oracle"]
    assert [panel.title for panel in panels] == titles
    assert [line.label for line in panels[0].series] == [*METHODS, ORACLE]
    assert [line.label for line in panels[1].series] == [*METHODS]
    assert [c.text for c in found.claims] == [
        "toy LR: BEEp lies below CV-5 at n = 12",
        "toy SVM: CV-5 lies below BEEi at n = 40",
    ]
    assert found.claims[0].verdict == "holds"
    assert found.notes[0] == "a note."
    assert "NOT CONVERGED: in 1 of 20 runs" in found.notes[1]


@pytest.mark.parametrize(
    ("figure", "words"),
    [
        (BEE_FIGURE_2, "ovarian a1a"),
        (BEE_FIGURE_3, "yeast satellite"),
        (BEE_FIGURE_3_END, "satellite"),
    ],
)
def test_claims_are_about_sizes_that_are_drawn(figure, words):
    """Every set, learner, method and place that a claim names is there."""
    sets = {one.word: one for one in figure.sets}
    assert " ".join(sets) == words
    for of, low, high, *places in figure.claims:
        _, methods = sets[of.split()[0]].learners[of]
        assert {low, high} <= set(methods)
        assert set(places) <= {FEWEST, MOST}


@pytest.mark.parametrize(
    ("figure", "most", "tested"),
    [(BEE_FIGURE_2, (205, 1605), 11), (BEE_FIGURE_3, (1410, 4435), 74)],
)
def test_the_whole_breadth_has_the_sizes_of_the_document(figure, most, tested):
    """From 10 % by steps of 5, to 95 % where the other rows are tested; under a word of its own."""
    whole = figure.whole.experiment()
    first, second = figure.whole.sets
    assert (len(first.sizes), len(second.sizes)) == (18, 19)
    assert (first.sizes[MOST], second.sizes[MOST]) == most
    assert second.sizes[0] == pytest.approx(second.pool / 10, abs=0.5)
    assert first.sizes[MOST] + tested == {"ovarian": 216, "yeast": 1484}[first.word]
    assert whole.word == f"{figure.word}-full"
    assert whole.full is None
    declared = {BEE_FIGURE_2: bee_real.bee_figure_2, BEE_FIGURE_3: bee_real.bee_figure_3}[figure]
    assert declared.full.word == whole.word


@pytest.mark.parametrize("figure", [BEE_FIGURE_2, BEE_FIGURE_3])
def test_the_smallest_training_sets_are_learned_from(figure, monkeypatch):
    """On the real files, where they are: errors between 0 and 1, the oracle's least."""
    if folder_of_documents() is None:
        pytest.skip(f"{FOLDER} names no folder with the documents' data sets")
    monkeypatch.undo()  # the files' own rows
    few = tuple(
        replace(one, sizes=one.sizes[:1], names=tuple(n for n in one.names if "×" not in n))
        for one in figure.sets
    )
    small = replace(figure, sets=few, claims=()).experiment()
    for grid in small.findings(draw_replicates(small, 2)).tables:
        means = {row.name: row.means[0] for row in grid.rows}
        assert 0 <= means[ORACLE] == min(means.values())
        assert max(means.values()) < 1


def test_all_training_rows_are_drawn_and_the_others_tested(monkeypatch):
    """The same rows in every replicate, whatever the random numbers."""
    (satellite,) = BEE_FIGURE_3_END.sets
    labels = np.arange(6435) % 6
    monkeypatch.setattr(bee_real, "_rows", lambda word: (np.zeros((6435, 1)), labels))
    for seed in range(2):
        train, test = satellite.split(np.random.default_rng(seed), satellite.sizes[0])
        assert train.tolist() == list(range(4435))
        assert test.tolist() == list(range(4435, 6435))


def test_claims_are_about_methods_that_are_run():
    """Five folds and both Bayesian estimates, for either learner; nothing else costs time."""
    (satellite,) = BEE_FIGURE_3_END.sets
    for _, methods in satellite.learners.values():
        assert list(methods) == ["CV-5", "BEEp", "BEEi"]
    for of, low, high, _ in BEE_FIGURE_3_END.claims:
        assert low == "CV-5"
        assert high in satellite.learners[of][1]


def test_only_the_folds_differ_between_replicates(monkeypatch):
    """Bayesian choices and the oracle are the same; one size is no figure."""
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = rng.normal(size=(90, 2)) + 2 * np.eye(3)[y][:, :2]
    monkeypatch.setattr(bee_real, "_rows", lambda word: (X, y))
    (satellite,) = BEE_FIGURE_3_END.sets
    few = replace(satellite, sizes=(60,), pool=60)
    end = replace(BEE_FIGURE_3_END, sets=(few,)).experiment()
    draws = draw_replicates(end, 3)
    for name, errors in draws.items():
        assert np.ptp(errors) == 0 or "CV-5" in name, name
    found = end.findings(draws)
    assert found.figures == ()
    assert {claim.verdict for claim in found.claims} == {"undecided"}


def test_what_grows_with_the_training_rows_is_judged():
    """Choices that part from the oracle hold; of one that comes nearer it does not."""
    real, noise = RealSet("toy", (12, 40), 93), 1e-4 * np.random.default_rng(0).normal(size=(20, 2))
    draws = {f"toy LR {name}": 0.2 + noise for name in (ORACLE, "BEEp", "CV-5")}
    draws["toy LR BEEp"] = draws["toy LR CV-5"] = 0.2 + np.array([0.01, 0.03]) + noise[::-1]
    assert real.parted(draws, "toy LR").verdict == "holds"
    draws["toy LR CV-5"] = 0.2 + np.array([0.03, 0.01]) + noise
    assert real.parted(draws, "toy LR").verdict == "does not hold"


def test_what_a_choice_adds_is_paired():
    """Sets that are hard for all widen the band of a mean, and not that of a difference."""
    rng = np.random.default_rng(0)
    oracle = rng.normal(0.2, 0.05, size=(40, 2))
    added = rng.normal(0.01, 0.001, size=(40, 2))
    draws = {
        f"{word} {name}": oracle + added
        for word, (_, methods) in ONE.learners.items()
        for name in (*methods, SHORT)
    }
    draws |= {f"{word} {ORACLE}": oracle for word in ONE.learners}
    both, paired, *_ = (part for part in ONE.contents(draws) if isinstance(part, Panel))
    assert [line.label for line in both.series] == [*METHODS, ORACLE]
    for line, every in zip(paired.series, both.series):
        assert line.y == pytest.approx(added.mean(axis=0))
        assert (line.error < every.error / 20).all()
