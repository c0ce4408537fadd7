"""Choosing k on the colon data; curves are those of scikit-learn and of flipped labels."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from truerisk import risk_curve
from truerisk.datasets.documents import FOLDER_VARIABLE, find_data_folder
from truerisk.experiments import colon_table_1 as module
from truerisk.experiments import reproduce
from truerisk.experiments.colon_table_1 import EARLIER_PAIRS, KS, N_TRAIN, selection_curves
from truerisk.methods import Swapping


@pytest.fixture(scope="module")
def genes():
    rng = np.random.default_rng(7)
    y = rng.integers(0, 2, 62)
    return rng.standard_normal((62, 5)) + y[:, None], y


def test_colon_curves_are_those_of_refitted_models(genes):
    X, y = genes
    test, loo = selection_curves(X, y)[:2]
    T, t = X[:N_TRAIN], y[:N_TRAIN]
    for place in (0, 3, 20):
        model = KNeighborsClassifier(int(KS[place]))
        wrong = model.fit(T, t).predict(X[N_TRAIN:]) != y[N_TRAIN:]
        assert test[place] == pytest.approx(wrong.mean())
        rests = [np.arange(N_TRAIN) != i for i in range(N_TRAIN)]
        said = [model.fit(T[r], t[r]).predict(T[~r])[0] for r in rests]
        assert loo[place] == pytest.approx(np.mean(said != t))


@pytest.mark.parametrize("form", ["exact", "as-printed"])
def test_colon_swapping_is_that_of_the_method(genes, form):
    X, y = genes
    own, method = (X[:N_TRAIN], y[:N_TRAIN]), Swapping(form=form)
    curve = risk_curve(KNeighborsClassifier(), {"n_neighbors": KS}, *own, cv=method)
    ours = selection_curves(X, y)[2 if form == "exact" else 3]
    np.testing.assert_allclose(ours, curve.values, atol=1e-12)


def test_colon_ties_go_to_smallest_k_and_of_leave_one_out_to_largest(monkeypatch):
    monkeypatch.setattr(module, "selection_curves", lambda X, y: np.full((4, len(KS)), 0.25))
    k, errors = module._choose_neighbours(np.zeros((62, 1)), np.zeros(62))
    assert k.tolist() == [1, 41, 1, 1]
    assert errors.tolist() == [25.0] * 4


def test_colon_claim_of_the_oracle_is_judged():
    errors = 13 + 0.01 * np.random.default_rng(0).normal(size=(20, 4, 4))
    errors[..., module.ORACLE] -= 3
    for closer, verdict in ((0.0, "holds"), (2.0, "does not hold")):
        errors[:, 3, module.EXACT_SWAPPING] -= closer
        draws = {"error": errors, "neighbours": np.ones((20, 4, 4))}
        assert module.colon_table_1.findings(draws).claims[-1].verdict == verdict


def test_colon_genes_are_ranked_by_between_over_within(monkeypatch):
    rng, learned = np.random.default_rng(0), []
    y = np.tile([0, 1], 31)
    order = module.replicate_rng("colon-table-1", 0, 0).permutation(62)
    second = np.full(62, -4)
    second[order[:42]] = 2
    X = rng.standard_normal((62, 4)) + np.outer(y, [0, 5, 0, 1])
    X[:, 2] += second * y
    monkeypatch.setattr(module, "_load_standardised_data", lambda: (X, y))
    monkeypatch.setattr(module, "GENE_COUNTS", (2,))
    monkeypatch.setattr(module, "_choose_neighbours", lambda X, y: (learned.append(X), 0))
    module.colon_table_1.replicate(0, 0)
    assert np.array_equal(learned[0], X[order][:, [1, 2]])


def test_colon_numbers_of_the_recipe_are_reached():
    if find_data_folder() is None:
        pytest.skip(f"{FOLDER_VARIABLE} names no folder with the colon data")
    report = reproduce("colon-table-1", replicates=20, seed=1)
    paper, recipe = report.tables
    assert len(recipe.rows) == 8 * len(EARLIER_PAIRS)
    assert len(paper.rows) == 8 * 3 + 2
    for row in recipe.rows:
        assert abs(row.difference) < 3.5, row
