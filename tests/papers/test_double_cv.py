"""Wallman's Table 1 and Figure 4: one plan replayed gives what scikit-learn gives step by step."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier

from truerisk.core.contracts import RunOptions
from truerisk.core.family import Family
from truerisk.core.plan.blocks import ALL
from truerisk.core.table.data import Data
from truerisk.engines import Generic
from truerisk.papers import double_cv as module
from truerisk.papers.double_cv import (
    CODES,
    LABELS,
    N_DESIGN,
    design_of,
    double_cv,
    wallman_figure_4,
    wallman_table_1,
)

SEED = 5


def loo_errors(model, X, y):
    """How many rows scikit-learn gets wrong when each is left out."""
    return (cross_val_predict(model, X, y, cv=LeaveOneOut()) != y).sum()


@pytest.fixture(scope="module")
def design():
    return design_of(SEED)


def test_the_plan_is_the_document_s(design):
    """Ten stratified outer folds of 5, leave-one-out of 45 inside, every k of 44 rows."""
    inner, outer = design.inner, design.outer
    assert inner.n_questions == 10 * 45
    assert set(inner.train_sizes) == {44}
    assert [c["n_neighbors"] for c in design.family.candidates] == list(range(1, 45))
    external = outer.questions("external")
    held_out = [outer.test_rows(int(q))[0] for q in external]
    assert sorted(np.concatenate(held_out)) == list(range(N_DESIGN))
    assert {tuple(sorted(np.bincount(CODES[rows]))) for rows in held_out} == {(2, 3)}


def test_no_fit_sees_a_test_row(design):
    """Test rows come after the design rows, and no train set is "all rows but"."""
    assert (design.outer.train.base != ALL).all()
    seen = [design.outer.train_rows(fit)[0] for fit in range(design.outer.n_fits)]
    assert max(rows.max() for rows in seen) < N_DESIGN
    for question in design.outer.questions("true"):
        rows, _ = design.outer.test_rows(int(question))
        assert (rows.min(), len(rows)) == (N_DESIGN, 10_000)


def test_it_equals_scikit_learn_step_by_step(design, monkeypatch):
    """Inner leave-one-out of every k, the first least error wins, refitted, tested twice."""
    captured = {}
    outer_errors = module._outer_errors

    def capture(design, X, chosen):
        captured.update(X=X, chosen=chosen)
        return outer_errors(design, X, chosen)

    monkeypatch.setattr(module, "_outer_errors", capture)
    found = double_cv(SEED, 1)
    X, y = captured["X"], design.codes
    external, true = [], []
    for fold, question in enumerate(design.outer.questions("external")[:2]):
        train, _ = design.outer.train_rows(int(design.outer.fit[question]))
        held_out, _ = design.outer.test_rows(int(question))
        tried = min(int(captured["chosen"][fold]) + 3, 44)
        errors = [loo_errors(KNeighborsClassifier(k + 1), X[train], y[train]) for k in range(tried)]
        assert captured["chosen"][fold] == int(np.argmin(errors))
        model = KNeighborsClassifier(int(captured["chosen"][fold]) + 1).fit(X[train], y[train])
        external.append((model.predict(X[held_out]) != y[held_out]).mean())
        true.append((model.predict(X[N_DESIGN:]) != y[N_DESIGN:]).mean())
    errors = outer_errors(design, X, captured["chosen"])
    part = design.outer.part
    np.testing.assert_allclose(errors[part == 0][:2], external)
    np.testing.assert_allclose(errors[part == 1][:2], true)
    assert found["external"] == pytest.approx(errors[part == 0].mean())
    assert found["true"] == pytest.approx(errors[part == 1].mean())


def test_the_inner_answers_are_the_generic_engine_s(design):
    """Chosen k and least errors are those of fits of scikit-learn."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N_DESIGN, 2)) + CODES[:, None]
    errors, chosen = module._chosen(design, X)
    unit = design.inner.only(np.flatnonzero(design.inner.unit == 4))
    data = Data(X, CODES, "classification", np.array([0, 1]), CODES)
    family = Family.of(KNeighborsClassifier(), {"n_neighbors": [1, 2, 7, int(chosen[4]) + 1]})
    answers = Generic().run(family, data, unit, LABELS, RunOptions())
    wrong = (answers.values != CODES[unit.positions[0]]).mean(axis=1)
    assert errors[4] == pytest.approx(wrong[3])
    assert (wrong >= wrong[3] - 1e-12).all()


def test_a_data_set_depends_on_seed_and_number_alone():
    """Drawn twice it is the same, and the next one is another."""
    assert double_cv(1, 2) == double_cv(1, 2)
    assert double_cv(1, 2) != double_cv(1, 3)


def test_the_paper_s_one_test_set_counts(findings_of):
    """Its true error is uncertain by .0030 more."""
    assert findings_of("wallman-table-1").tables[0].rows[2].reference_error == pytest.approx(
        0.00306, abs=1e-5
    )


def test_the_rules_for_ties_are_said(findings_of):
    """Votes to class 0, inner errors to the lowest k."""
    notes = " ".join(findings_of("wallman-table-1").notes)
    assert "tie go to class 0, as in scikit-learn" in notes
    assert "lowest k" in notes


def test_internal_and_external_go_together(findings_of):
    """More than either goes with the true error."""
    rows = {row.name: row.ours for row in findings_of("wallman-figure-4").tables[1].rows}
    assert rows["internal and external"] > 0.6
    assert rows["internal and external"] > max(rows["external and true"], rows["internal and true"])


def test_figure_4_shows_the_data_sets_of_table_1():
    """Seed for seed, number for number: one function draws them."""
    assert wallman_figure_4.replicate is wallman_table_1.replicate is double_cv
