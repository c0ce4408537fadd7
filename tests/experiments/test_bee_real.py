"""Training sets of real data: who is trained on, who is tested, which rows are prepared how."""

from dataclasses import replace

import numpy as np
import pytest

from truerisk.datasets import make_four_class
from truerisk.datasets.documents import FOLDER_VARIABLE, find_data_folder
from truerisk.experiments import bee_real as module
from truerisk.experiments.bee_choosing import NOT_CONVERGED, ORACLE
from truerisk.experiments.bee_real import (
    BEE_FIGURE_2,
    BEE_FIGURE_3,
    BEE_FIGURE_3_END,
    FIRST_SIZE,
    LAST_SIZE,
    RealDataFigure,
    RealDataSet,
)
from truerisk.experiments.figures import Panel
from truerisk.experiments.reproducing import draw_replicates

X, Y = make_four_class(120, random_state=0)
ONE = RealDataSet(
    "toy", (12, 40), 93, method_names=("CV-5", "CV-10", "2×CV-5", "BEEp", "BEEi", "EBIC")
)

METHODS = ONE.learners["toy LR"][1]


@pytest.fixture(autouse=True)
def rows(monkeypatch):
    """Four classes instead of a file; the last class has 3 rows, and the features have units."""
    kept = np.concatenate([np.flatnonzero(Y < 3), np.flatnonzero(Y == 3)[:3]])
    units = np.geomspace(0.1, 10, X.shape[1])
    monkeypatch.setattr(module, "_load_rows", lambda word: (X[kept] * units, Y[kept]))


def test_real_set_tests_rows_that_are_not_drawn():
    _, y = module._load_rows("toy")
    for number in range(20):
        train, test = ONE.split(np.random.default_rng(number), 12)
        assert len(train) == 12
        assert np.bincount(y[train], minlength=4).min() >= 2
        assert sorted([*train, *test]) == list(range(len(y)))


def test_real_set_keeps_a_fixed_split(monkeypatch):
    one = replace(ONE, n_pool_rows=60, has_fixed_split=True)
    train, test = one.split(np.random.default_rng(0), 20)
    assert train.max() < 60
    np.testing.assert_array_equal(test, np.arange(60, 93))
    whole, _ = replace(ONE, has_fixed_split=True).split(np.random.default_rng(0), 93)
    np.testing.assert_array_equal(whole, np.arange(93))
    (satellite,) = BEE_FIGURE_3_END.data_sets
    labels = np.arange(6435) % 6
    monkeypatch.setattr(module, "_load_rows", lambda word: (np.zeros((6435, 1)), labels))
    train, test = satellite.split(np.random.default_rng(0), satellite.training_sizes[0])
    assert train.tolist() == list(range(4435))
    assert test.tolist() == list(range(4435, 6435))


def test_real_set_prepares_test_rows_as_training_rows():
    draws = replace(ONE, training_sizes=(12,)).replicate(3, 1)
    rows, y = module._load_rows("toy")
    train, test = ONE.split(module.replicate_rng("toy 12", 3, 1), 12)
    for learner, (family, _) in ONE.learners.items():
        models = [family.make(c).fit(rows[train], y[train]) for c in range(len(family))]
        errors = [(model.predict(rows[test]) != y[test]).mean() for model in models]
        assert draws[f"{learner} {ORACLE}"].tolist() == [min(errors)]


def test_real_set_has_all_sizes_of_both_learners():
    draws = ONE.replicate(0, 0)
    assert draws["toy LR CV-5"].shape == draws["toy SVM CV-5"].shape == (2,)
    grid, *_ = ONE.tables_and_panels({name: errors[None] for name, errors in draws.items()})
    assert [row.name for row in grid.rows] == [
        "CV-5", "CV-10", "2×CV-5", "BEEp", "BEEi", "EBIC", ORACLE,
    ]  # fmt: skip
    for name in METHODS:
        assert (draws[f"toy LR {name}"] >= draws[f"toy LR {ORACLE}"]).all()


def test_real_sets_figure_reports_every_set_and_learner():
    claims = (("toy LR", "BEEp", "CV-5", FIRST_SIZE), ("toy SVM", "CV-5", "BEEi", LAST_SIZE))
    toy = RealDataFigure("toy", "Toys", (ONE,), claims, "a note.", 2)
    draws = {key: np.tile(value, (10, 1)) for key, value in ONE.replicate(0, 0).items()}
    draws["toy LR BEEp"] = draws["toy LR CV-5"] - 0.01 * np.arange(10, 20)[:, None]
    draws[f"toy LR {NOT_CONVERGED}"][0, 0] = 1
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
def test_real_sets_figure_claims_are_about_sizes_and_methods_that_are_drawn(figure, words):
    sets = {one.name: one for one in figure.data_sets}
    assert " ".join(sets) == words
    for of, low, high, *places in figure.claims:
        _, methods = sets[of.split()[0]].learners[of]
        assert {low, high} <= set(methods)
        assert set(places) <= {FIRST_SIZE, LAST_SIZE}
    if figure is BEE_FIGURE_3_END:
        for _, methods in sets["satellite"].learners.values():
            assert list(methods) == ["CV-5", "BEEp", "BEEi"]
        assert {low for _, low, *_ in figure.claims} == {"CV-5"}


@pytest.mark.parametrize(
    ("figure", "most", "tested"),
    [(BEE_FIGURE_2, (205, 1605), 11), (BEE_FIGURE_3, (1410, 4435), 74)],
)
def test_real_sets_figure_in_full_has_the_sizes_of_the_document(figure, most, tested):
    whole = figure.with_all_sizes.to_experiment()
    first, second = figure.with_all_sizes.data_sets
    assert (len(first.training_sizes), len(second.training_sizes)) == (18, 19)
    assert (first.training_sizes[LAST_SIZE], second.training_sizes[LAST_SIZE]) == most
    assert second.training_sizes[0] == pytest.approx(second.n_pool_rows / 10, abs=0.5)
    assert first.training_sizes[LAST_SIZE] + tested == {"ovarian": 216, "yeast": 1484}[first.name]
    assert whole.name == f"{figure.name}-full"
    assert whole.full is None
    declared = {BEE_FIGURE_2: module.bee_figure_2, BEE_FIGURE_3: module.bee_figure_3}[figure]
    assert declared.full.name == whole.name


@pytest.mark.parametrize("figure", [BEE_FIGURE_2, BEE_FIGURE_3])
def test_real_sets_figure_learns_from_the_smallest_training_sets(figure, monkeypatch):
    if find_data_folder() is None:
        pytest.skip(f"{FOLDER_VARIABLE} names no folder with the documents' data sets")
    monkeypatch.undo()  # the files' own rows
    few = tuple(
        replace(
            one,
            training_sizes=one.training_sizes[:1],
            method_names=tuple(n for n in one.method_names if "×" not in n),
        )
        for one in figure.data_sets
    )
    small = replace(figure, data_sets=few, claims=(), equalities=()).to_experiment()
    for grid in small.findings(draw_replicates(small, 2)).tables:
        means = {row.name: row.means[0] for row in grid.rows}
        assert 0 <= means[ORACLE] == min(means.values())
        assert max(means.values()) < 1


def test_bee_figure_3_end_replicates_differ_by_folds_alone(monkeypatch):
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = rng.normal(size=(90, 2)) + 2 * np.eye(3)[y][:, :2]
    monkeypatch.setattr(module, "_load_rows", lambda word: (X, y))
    (satellite,) = BEE_FIGURE_3_END.data_sets
    few = replace(satellite, training_sizes=(60,), n_pool_rows=60)
    end = replace(BEE_FIGURE_3_END, data_sets=(few,)).to_experiment()
    draws = draw_replicates(end, 3)
    for name, errors in draws.items():
        assert np.ptp(errors) == 0 or "CV-5" in name, name
    found = end.findings(draws)
    assert found.figures == ()
    assert {claim.verdict for claim in found.claims} == {"undecided"}


def test_real_set_claim_of_growing_difference_is_judged():
    real, noise = (
        RealDataSet("toy", (12, 40), 93),
        1e-4 * np.random.default_rng(0).normal(size=(20, 2)),
    )
    draws = {f"toy LR {name}": 0.2 + noise for name in (ORACLE, "BEEp", "CV-5")}
    draws["toy LR BEEp"] = draws["toy LR CV-5"] = 0.2 + np.array([0.01, 0.03]) + noise[::-1]
    assert real.divergence_statement(draws, "toy LR").verdict == "holds"
    draws["toy LR CV-5"] = 0.2 + np.array([0.03, 0.01]) + noise
    assert real.divergence_statement(draws, "toy LR").verdict == "does not hold"


def test_real_set_panel_pairs_what_a_choice_adds():
    rng = np.random.default_rng(0)
    oracle = rng.normal(0.2, 0.05, size=(40, 2))
    added = rng.normal(0.01, 0.001, size=(40, 2))
    draws = {
        f"{word} {name}": oracle + added
        for word, (_, methods) in ONE.learners.items()
        for name in (*methods, NOT_CONVERGED)
    }
    draws |= {f"{word} {ORACLE}": oracle for word in ONE.learners}
    both, paired, *_ = (part for part in ONE.tables_and_panels(draws) if isinstance(part, Panel))
    assert [line.label for line in both.series] == [*METHODS, ORACLE]
    for line, every in zip(paired.series, both.series):
        assert line.y == pytest.approx(added.mean(axis=0))
        assert (line.error < every.error / 20).all()


def test_real_figure_claims_of_equality_are_judged():
    """Both methods choose equally well where their errors differ by at most the tolerance."""
    rng, sizes = np.random.default_rng(0), (20, 4)
    draws = {
        f"ovarian LR {name}": 0.2 + shift + 1e-3 * rng.normal(size=sizes)
        for name, shift in {"BEEp": 0, "BEEi": 0.01, "100×CV-5": 0.03}.items()
    }
    (ovarian,) = (one for one in BEE_FIGURE_2.data_sets if one.name == "ovarian")
    statements = [
        module._equality_statement(draws, ovarian.training_sizes, claim)
        for claim in BEE_FIGURE_2.equalities
    ]
    assert [one.verdict for one in statements] == ["does not hold", "undecided", "holds"]
    assert [len(one.quantities) for one in statements] == [1, 1, 4]
