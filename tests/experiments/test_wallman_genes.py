"""Genes that are chosen on all rows make the error of the folds too small; chosen in each, not."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.feature_selection import SelectKBest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import truerisk as tr
from truerisk.experiments.experiment import Sample, stream
from truerisk.experiments.wallman_genes import (
    APPARENT,
    GENES,
    INSIDE,
    OUTSIDE,
    PROBLEMS,
    ROWS,
    SIZES,
    TRUE,
    WAYS,
    N,
    wallman_genes,
)


@pytest.fixture(scope="module")
def replicate():
    return wallman_genes.replicate(0, 3)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_a_replicate_is_what_a_user_finds(problem, replicate):
    """Ten genes: selected before the folds or in a pipeline; on the own rows and on fresh ones."""
    columns = GENES, PROBLEMS[problem]
    whole = Sample.alternating(ROWS, columns, 1.0, stream(problem, 0, 3)).whole
    X, y = whole.X, whole.y
    rows, j = {"X": X[:N], "y": y[:N], "random_state": 3}, SIZES.index(10)
    rule = KNeighborsClassifier(3)
    model = make_pipeline(SelectKBest(k=10), rule)
    outside = {**rows, "X": SelectKBest(k=10).fit_transform(X[:N], y[:N])}
    by_hand = {
        APPARENT: tr.estimate_risk(model, **rows, cv="apparent").value,
        OUTSIDE: tr.estimate_risk(rule, **outside, cv="10-fold").value,
        INSIDE: tr.estimate_risk(model, **rows, cv="10-fold").value,
        TRUE: 1 - model.fit(X[:N], y[:N]).score(X[N:], y[N:]),
    }
    assert {way: replicate[f"{problem}: {way}"][j] for way in WAYS} == pytest.approx(by_hand)


def test_of_all_genes_none_is_chosen(replicate):
    """There the folds outside are the folds inside."""
    for problem in PROBLEMS:
        outside, inside = (replicate[f"{problem}: {way}"] for way in (OUTSIDE, INSIDE))
        assert SIZES[-1] == GENES
        assert outside[-1] == inside[-1]
        assert (outside[:-1] < inside[:-1]).any()


def test_one_gene_is_a_gene(findings_of):
    """In the names of what is judged."""
    names = [q.name for claim in findings_of("wallman-genes").claims for q in claim.quantities]
    assert f"{next(iter(PROBLEMS))}, 1 gene: true − estimate" in names
    assert not any(", 1 genes" in name for name in names)


def test_a_step_says_the_numbers_of_its_place(draws_of, findings_of):
    """In per cent, with standard errors, beside the points of the same place."""
    draws, found = draws_of("wallman-genes"), findings_of("wallman-genes")
    for panel in found.figures[0].panels:
        of = {way: draws[f"{panel.title}: {way}"] for way in WAYS}
        for j, (k, step) in enumerate(zip(SIZES, panel.steps, strict=True)):
            assert step.startswith(f"{k} of {GENES} genes: ")
            hidden = [of[TRUE][:, j] - of[OUTSIDE][:, j]] if k < GENES else []
            for values in (*(of[way][:, j] for way in WAYS), *hidden):
                error = values.std(ddof=1) / np.sqrt(len(values))
                assert f" {100 * values.mean():.1f} ± {100 * error:.1f} " in step
        for line, way in zip(panel.series, WAYS, strict=True):
            assert line.y == pytest.approx(of[way].mean(axis=0))
