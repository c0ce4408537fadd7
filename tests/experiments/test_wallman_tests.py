"""Wallman's tests: double cross-validation step by step, and comparisons by hand."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from truerisk import ErrorPosterior
from truerisk.datasets import make_simple
from truerisk.experiments.double_cv import (
    CLASS_SIZES,
    KS,
    METHOD,
    double_cv,
)
from truerisk.experiments.experiment import Sample, replicate_rng
from truerisk.experiments.wallman_comparison import MEASURES, WALLMAN_CASES
from truerisk.experiments.wallman_no_free_lunch import wallman_no_free_lunch
from truerisk.extend import Streams
from truerisk.models import FisherClassifier, ParzenClassifier

SEED = 5


def loo_errors(X, y):
    """How many rows every k gets wrong when each is left out, by counting votes; ties are 0."""
    away = ((X[:, None] - X) ** 2).sum(axis=2)
    np.fill_diagonal(away, np.inf)
    votes = np.cumsum(y[away.argsort(axis=1)[:, :-1]], axis=1)
    return ((2 * votes > np.array(KS)) != y[:, None]).sum(axis=0)


def drawn(number):
    """The rows of a data set and its outer training rows, fold by fold."""
    rng = replicate_rng("wallman double cv", SEED, number)
    sample = Sample.draw(make_simple, CLASS_SIZES, rng)
    own = sample.data.subset(np.arange(sample.n))
    plan = METHOD.plan(own, Streams(SEED).child("double cv"))
    outer = plan.select(plan.questions("outer"))
    trained = (outer.train_rows(int(fit))[0] for fit in outer.fit)
    folds = [(rows, outer.test_rows(fold)[0]) for fold, rows in enumerate(trained)]
    return sample, plan, folds


def test_double_cv_plan_has_the_documents_folds_drawn_once_for_a_seed():
    sample, plan, folds = drawn(0)
    inner = plan.select(plan.questions("inner"))
    assert inner.n_questions == 10 * 45
    assert set(inner.train_sizes) == {44}
    assert [*KS] == [*range(1, 45)]
    held_out = [rows for _, rows in folds]
    assert sorted(np.concatenate(held_out)) == [*range(50)]
    assert {tuple(sorted(np.bincount(sample.data.y[rows]))) for rows in held_out} == {(2, 3)}
    for (train, test), (other, held_out) in zip(folds, drawn(7)[2], strict=True):
        assert (train.tolist(), test.tolist()) == (other.tolist(), held_out.tolist())


def test_double_cv_equals_scikit_learn_step_by_step(findings_of):
    found, (sample, _, folds) = double_cv(SEED, 1), drawn(1)
    X, y = sample.data.X, sample.data.y
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
    rows = findings_of("wallman-table-1").tables[0].rows
    assert rows[2].reference_error == pytest.approx(
        0.00306, abs=1e-5
    )  # the paper's test set counts


@pytest.fixture
def every(draws_of):
    return draws_of("wallman-figure-5")


@pytest.fixture
def draws(every):
    return {name: values[0] for name, values in every.items()}


@pytest.fixture
def findings(findings_of):
    return findings_of("wallman-figure-5")


def by_hand(situation, number):
    """The document's text (§3.7), with scikit-learn alone."""
    rng = replicate_rng(f"wallman comparison {situation.problem.name}", 0, number)
    X, y = situation.problem((90, 90), shuffle=False, random_state=rng)
    fresh = situation.problem((2500, 2500), shuffle=False, random_state=rng)
    order = rng.permutation(180)
    tuning, test = order[:120], order[120:]
    likelihood = situation.width_criterion == "maximum-likelihood"
    learners = [
        KNeighborsClassifier(3),
        DecisionTreeClassifier(criterion="entropy", random_state=0),
        ParzenClassifier(situation.width_criterion, per_class=likelihood),
        FisherClassifier(),
    ]
    risks = []
    for model in learners:
        wrong = []
        for fold in range(5):
            train = np.sort(tuning[fold::5])
            rest = np.setdiff1d(tuning, train)
            wrong.append((model.fit(X[train], y[train]).predict(X[rest]) != y[rest]).mean())
        risks.append(np.mean(wrong))
    chosen = int(np.argmin(np.round(risks, 12)))
    design = np.sort(rng.permutation(tuning)[:30])
    first = measured(learners[chosen].fit(X[design], y[design]), X[test], y[test], fresh)
    design, test = np.split(rng.permutation(180), [30])
    design = np.sort(design)
    second = measured(learners[0].fit(X[design], y[design]), X[test], y[test], fresh)
    return chosen, first, second


def measured(model, X, y, fresh):
    """The four measures and the error on fresh rows."""
    errors = int((model.predict(X) != y).sum())
    post = ErrorPosterior(errors, len(y))
    true = (model.predict(fresh[0]) != fresh[1]).mean()
    return [post.upper(), post.mass_above(0.5), post.second_moment(), errors / len(y), true]


@pytest.mark.parametrize("situation", WALLMAN_CASES, ids=lambda s: s.name)
def test_wallman_figure_5_does_what_the_text_says(situation, draws):
    chosen, first, second = by_hand(situation, 0)
    assert draws[f"{situation.name}: choice"] == chosen
    np.testing.assert_allclose(draws[f"{situation.name}: above ½"], [first[1], second[1]])
    verdicts = [int(np.sign(b - a)) for a, b in zip(first, second, strict=True)]
    assert draws[f"{situation.name}: verdicts"].tolist() == verdicts


def test_wallman_figure_5_wins_are_shares_of_data_sets(every, findings):
    rows = {row.name: row for row in findings.tables[0].rows}
    for place, measure in enumerate(MEASURES):
        for who, sign in (("a1", 1), ("a2", -1)):
            share = 100 * np.mean(every["simple: verdicts"][:, place] == sign)
            assert rows[f"{who}, {measure}"].ours == pytest.approx(share)
            assert rows[f"{who}, {measure}"].std_error > 0
    assert rows["a1, true"].reference == 80


def test_wallman_figure_5_marks_the_documents_winner_over_its_bar(findings):
    for panel, situation in zip(findings.figures[0].panels, WALLMAN_CASES, strict=True):
        assert panel.title == situation.name
        first, second, won = panel.series
        assert ["1" if x < round(x) else "2" for x in won.x] == [*situation.winner_by_measure]
        bars = [
            {"1": first, "2": second}[winner].y[i]
            for i, winner in enumerate(situation.winner_by_measure)
        ]
        assert (won.y > bars).all()
        assert (panel.names, panel.limits) == (MEASURES, (0, 100))


def test_no_free_lunch_enumerates_all_targets():
    """Each learner sees each labelling of its three points with all eight of the other three."""
    errors = wallman_no_free_lunch.replicate(0, 0)["errors"]
    assert errors.shape == (6, 64)
    for of_learner in errors:
        counts = np.bincount(np.round(3 * of_learner).astype(int))
        assert counts.tolist() == [8, 24, 24, 8]
    assert len(np.unique(errors, axis=0)) > 3
