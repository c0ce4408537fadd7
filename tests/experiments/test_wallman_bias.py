"""Why the error of what was chosen is too small: settings, learners, genes; posteriors."""

from functools import cache

import numpy as np
import pytest
from scipy.stats import beta
from sklearn.base import clone
from sklearn.feature_selection import SelectKBest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import truerisk as tr
from truerisk.experiments.experiment import Sample, replicate_rng
from truerisk.experiments.wallman_bias import (
    CHOICE_NAMES,
    K_VALUES,
    MEAN_DIFFERENCE,
    N_FRESH_BY_N_TRAINING,
    N_GENES_AND_INFORMATIVE,
    N_TRAINING_AND_FRESH,
    REPORTED_ERROR,
    N,
    _share_below_bound,
    candidate_families,
    wallman_bias,
    wallman_choices,
)
from truerisk.experiments.wallman_genes import (
    APPARENT_ERROR,
    ESTIMATE_NAMES,
    GENE_COUNTS,
    GENES,
    N_INFORMATIVE_BY_PROBLEM,
    SELECTION_INSIDE_FOLDS,
    SELECTION_OUTSIDE_FOLDS,
    wallman_genes,
)
from truerisk.experiments.wallman_genes import (
    FRESH_ERROR as TRUE_ERROR,
)
from truerisk.experiments.wallman_genes import (
    N_TRAINING_AND_FRESH as ALL_ROWS,
)
from truerisk.experiments.wallman_genes import (
    N as GENE_ROWS,
)


def test_wallman_bias_replicate_is_a_risk_curve_and_fresh_rows():
    found = wallman_bias.replicate(0, 3)
    make = tr.datasets.make_simple
    for n, word in ((N, "wallman bias"), (100, "wallman bias 100")):
        rng = replicate_rng(word, 0, 3)
        both = n // 2, N_FRESH_BY_N_TRAINING[n]
        sample, fresh = (make((m, m), shuffle=False, random_state=rng) for m in both)
        grid = {"n_neighbors": range(1, n - 1)}
        curve = tr.risk_curve(KNeighborsClassifier(), grid, *sample, cv="loo")
        chosen, estimates, true = np.split(found[f"{n} rows"], [1, n - 1])
        assert estimates == pytest.approx(curve.values)
        assert chosen == curve.best
        for k in (7, 1 + curve.best):
            rule = KNeighborsClassifier(k).fit(*sample)
            assert true[k - 1] == pytest.approx(1 - rule.score(*fresh))


def test_wallman_bias_by_rows_is_tabulated_and_judged(draws_of):
    draws = {name: np.concatenate([of] * 8) for name, of in draws_of("wallman-bias").items()}
    draws |= {f"{n} rows": draws["20 rows"] for n in (100, 200)}
    findings = wallman_bias.findings(draws)
    (grid,) = [table for table in findings.tables if table.title.startswith("bias by rows")]
    assert grid.columns == ("n = 20", "n = 50", "n = 100", "n = 200")
    estimates, true = np.split(draws[f"{N} rows"][:, 1:], 2, axis=1)
    taken = true[np.arange(len(true)), estimates.argmin(axis=1)] - estimates.min(axis=1)
    assert grid.rows[0].means[1] == pytest.approx(taken.mean())
    assert findings.claims[4].verdict == "undecided"
    worse = np.repeat([0, 1], [19, 18])  # the true errors alone
    wide = {
        f"{n} rows": draws["20 rows"] + by * worse for n, by in ((20, 1), (100, 0.5), (200, -1))
    }
    claim = wallman_bias.findings(draws | wide).claims[4]
    assert [round(quantity.value, 9) for quantity in claim.quantities][::2] == [2, 1.5]
    assert claim.verdict == "holds"


def test_wallman_bias_distributions_are_drawn_whole(findings_of):
    distributions, by_k, shares = findings_of("wallman-bias").figures[0].panels
    for line in distributions.series:
        assert line.y.sum() == pytest.approx(1, abs=0.02)
    reported = distributions.series[0]
    rows = {row.name: row.ours for row in findings_of("wallman-bias").tables[0].rows}
    assert reported.x @ reported.y == pytest.approx(rows[REPORTED_ERROR], abs=1e-6)
    assert len(by_k.series) == 3
    assert shares.series[0].y.sum() == pytest.approx(1)
    assert np.array_equal(shares.series[0].x, list(K_VALUES))


def test_wallman_posterior_measures_are_exact(findings_of):
    rows = findings_of("wallman-posterior").tables[0].rows
    assert len(rows) == 12
    assert all(abs(row.difference) <= 1.1 for row in rows)
    # A square has no third difference.
    (cost,) = findings_of("wallman-posterior").claims[1].quantities
    assert cost.value == pytest.approx(0, abs=1e-9)
    (figure,) = findings_of("wallman-posterior").figures
    labels = [series.label for series in figure.panels[0].series]
    assert labels == ["0 of 60", "6 of 60", "15 of 150", "30 of 60"]


def test_wallman_posterior_bound_of_a_wrong_size_is_exact():
    for n, held in ((60, 0.95), (150, 0.0561)):
        found = [
            beta.cdf(beta.ppf(0.95, e + 1, n - e + 1), e + 1, 60 - e + 1) for e in range(60 + 1)
        ]
        assert _share_below_bound(n, 60) == pytest.approx(np.mean(found), abs=1e-9)
        assert _share_below_bound(n, 60) == pytest.approx(held, abs=1e-4)


@cache
def first_choices():
    return wallman_choices.replicate(0, 3)


@pytest.mark.parametrize("name", CHOICE_NAMES)
def test_wallman_choices_replicate_is_a_risk_curve_and_fresh_rows(name):
    drawn = Sample.draw_alternating(
        N_TRAINING_AND_FRESH,
        N_GENES_AND_INFORMATIVE,
        MEAN_DIFFERENCE,
        replicate_rng("wallman choices", 0, 3),
    ).data
    X, y = drawn.X, drawn.y
    family = candidate_families()[name]
    grid = [{word: [value] for word, value in one.items()} for one in family.candidates]
    found = {"cv": "10-fold", "random_state": 3}
    curve = tr.risk_curve(family.estimator, grid, X[:N], y[:N], **found)
    chosen, estimates, true = np.split(first_choices()[name], [1, 1 + len(curve.values)])
    assert estimates == pytest.approx(curve.values)
    assert chosen == curve.best
    last = clone(family.estimator).set_params(**family.candidates[-1]).fit(X[:N], y[:N])
    assert true[-1] == pytest.approx(1 - last.score(X[N:], y[N:]))


def test_wallman_choices_table_and_panel_are_of_the_choices(draws_of, findings_of):
    (table,) = findings_of("wallman-choices").tables
    rows = {row.name: row.means for row in table.rows}
    for place, name in enumerate(CHOICE_NAMES):
        drawn = draws_of("wallman-choices")[name]
        estimates, true = np.split(drawn[:, 1:], 2, axis=1)
        taken = drawn[:, 0].astype(int)
        assert rows["reported, p_a (6)"][place] == pytest.approx(estimates.min(axis=1).mean())
        unselected, fresh = estimates.mean(axis=0)[taken].mean(), true.mean(axis=0)[taken].mean()
        assert rows["all estimates, p_b (7)"][place] == pytest.approx(unselected)
        assert rows["true, p (5)"][place] == pytest.approx(fresh)
        bias = unselected - estimates.min(axis=1).mean()
        assert rows["p_b − p_a"][place] == pytest.approx(bias)
    (panel,) = findings_of("wallman-choices").figures[0].panels
    assert panel.names == CHOICE_NAMES
    for bar, row in zip(panel.series, table.rows[:3], strict=True):
        assert bar.y.tolist() == list(row.means)
        assert bar.error.tolist() == list(row.std_errors)


@cache
def first_genes():
    return wallman_genes.replicate(0, 3)


@pytest.mark.parametrize("problem", N_INFORMATIVE_BY_PROBLEM)
def test_wallman_genes_replicate_is_what_estimate_risk_finds(problem):
    columns = GENES, N_INFORMATIVE_BY_PROBLEM[problem]
    whole = Sample.draw_alternating(ALL_ROWS, columns, 1.0, replicate_rng(problem, 0, 3)).data
    X, y = whole.X, whole.y
    rows, j = {"X": X[:GENE_ROWS], "y": y[:GENE_ROWS], "random_state": 3}, GENE_COUNTS.index(10)
    rule = KNeighborsClassifier(3)
    model = make_pipeline(SelectKBest(k=10), rule)
    outside = {**rows, "X": SelectKBest(k=10).fit_transform(X[:GENE_ROWS], y[:GENE_ROWS])}
    by_hand = {
        APPARENT_ERROR: tr.estimate_risk(model, **rows, cv="apparent").value,
        SELECTION_OUTSIDE_FOLDS: tr.estimate_risk(rule, **outside, cv="10-fold").value,
        SELECTION_INSIDE_FOLDS: tr.estimate_risk(model, **rows, cv="10-fold").value,
        TRUE_ERROR: 1 - model.fit(X[:GENE_ROWS], y[:GENE_ROWS]).score(X[GENE_ROWS:], y[GENE_ROWS:]),
    }
    assert {way: first_genes()[f"{problem}: {way}"][j] for way in ESTIMATE_NAMES} == pytest.approx(
        by_hand
    )


def test_wallman_genes_all_taken_have_one_error_inside_and_outside():
    for problem in N_INFORMATIVE_BY_PROBLEM:
        outside, inside = (
            first_genes()[f"{problem}: {way}"]
            for way in (SELECTION_OUTSIDE_FOLDS, SELECTION_INSIDE_FOLDS)
        )
        assert GENE_COUNTS[-1] == GENES
        assert outside[-1] == inside[-1]
        assert (outside[:-1] < inside[:-1]).any()


def test_wallman_genes_step_says_the_numbers_of_its_place(draws_of, findings_of):
    draws, found = draws_of("wallman-genes"), findings_of("wallman-genes")
    names = [q.name for claim in found.claims for q in claim.quantities]
    assert f"{next(iter(N_INFORMATIVE_BY_PROBLEM))}, 1 gene: true − estimate" in names
    for panel in found.figures[0].panels:
        of = {way: draws[f"{panel.title}: {way}"] for way in ESTIMATE_NAMES}
        for j, (k, step) in enumerate(zip(GENE_COUNTS, panel.steps, strict=True)):
            assert step.startswith(f"{k} of {GENES} genes: ")
            hidden = [of[TRUE_ERROR][:, j] - of[SELECTION_OUTSIDE_FOLDS][:, j]] if k < GENES else []
            for values in (*(of[way][:, j] for way in ESTIMATE_NAMES), *hidden):
                error = values.std(ddof=1) / np.sqrt(len(values))
                assert f" {100 * values.mean():.1f} ± {100 * error:.1f} " in step
        for line, way in zip(panel.series, ESTIMATE_NAMES, strict=True):
            assert line.y == pytest.approx(of[way].mean(axis=0))
