"""Wallman's Table 1 and Figure 4: one plan replayed gives what scikit-learn gives step by step."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from truerisk.contracts import Streams
from truerisk.datasets.problems import make_simple
from truerisk.experiments.double_cv import (
    KS,
    METHOD,
    SIZES,
    double_cv,
    wallman_figure_4,
    wallman_table_1,
)
from truerisk.experiments.experiment import Sample, stream

SEED = 5


def loo_errors(X, y):
    """How many rows every k gets wrong when each is left out, by counting votes; ties are 0."""
    away = ((X[:, None] - X) ** 2).sum(axis=2)
    np.fill_diagonal(away, np.inf)
    votes = np.cumsum(y[away.argsort(axis=1)[:, :-1]], axis=1)
    return ((2 * votes > np.array(KS)) != y[:, None]).sum(axis=0)


def drawn(number):
    """The rows of a data set and its outer training rows, fold by fold."""
    rng = stream("wallman double cv", SEED, number)
    sample = Sample.of(make_simple, SIZES, rng)
    own = sample.whole.subset(np.arange(sample.n))
    plan = METHOD.plan(own, Streams(SEED).child("double cv"))
    outer = plan.only(plan.questions("outer"))
    trained = (outer.train_rows(int(fit))[0] for fit in outer.fit)
    folds = [(rows, outer.test_rows(fold)[0]) for fold, rows in enumerate(trained)]
    return sample, plan, folds


def test_the_plan_is_the_document_s():
    """Ten stratified outer folds of 5, leave-one-out of 45 inside, every k of 44 rows."""
    sample, plan, folds = drawn(0)
    inner = plan.only(plan.questions("inner"))
    assert inner.n_questions == 10 * 45
    assert set(inner.train_sizes) == {44}
    assert [*KS] == [*range(1, 45)]
    held_out = [rows for _, rows in folds]
    assert sorted(np.concatenate(held_out)) == [*range(50)]
    assert {tuple(sorted(np.bincount(sample.whole.y[rows]))) for rows in held_out} == {(2, 3)}


def test_folds_are_drawn_once_for_a_seed():
    """Every data set has those of the first."""
    for (train, test), (other, held_out) in zip(drawn(0)[2], drawn(7)[2], strict=True):
        assert (train.tolist(), test.tolist()) == (other.tolist(), held_out.tolist())


def test_it_equals_scikit_learn_step_by_step():
    """Votes of every k counted, the first least error wins, refitted, tested twice."""
    found, (sample, _, folds) = double_cv(SEED, 1), drawn(1)
    X, y = sample.whole.X, sample.whole.y
    internal, external, true, chosen = [], [], [], []
    for train, held_out in folds:
        errors = loo_errors(X[train], y[train])
        k = KS[int(np.argmin(errors))]
        model = KNeighborsClassifier(k).fit(X[train], y[train])
        chosen.append(k)
        internal.append(min(errors) / len(train))
        external.append((model.predict(X[held_out]) != y[held_out]).mean())
        true.append((model.predict(X[sample.n :]) != y[sample.n :]).mean())
    assert found["internal"] == pytest.approx(np.mean(internal))
    assert found["external"] == pytest.approx(np.mean(external))
    assert found["true"] == pytest.approx(np.mean(true))
    assert found["k"] == np.mean(chosen)


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


def test_the_title_names_the_figure():
    """As the titles of its neighbours do, and not the table whose data it shows."""
    assert wallman_figure_4.title.startswith("Wallman (2005), Figure 4: ")
    assert wallman_table_1.title.startswith("Wallman (2005), Table 1: ")


def test_figure_4_shows_the_data_sets_of_table_1():
    """Seed for seed, number for number: one function draws them."""
    assert wallman_figure_4.replicate is wallman_table_1.replicate is double_cv
