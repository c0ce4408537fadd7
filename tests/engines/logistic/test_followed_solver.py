"""LogisticRegression is answered where its own solver stops, or asked itself."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from tests.engines.closed_forms import (
    counted,
    data_of,
    drawn,
    each_of_both,
    family_of,
    fits_made,
    plan_of,
    refusal_of,
    warnings_of,
)
from tests.support.fitted_once import fitted_once

import truerisk as tr
from truerisk.engines import Generic, LogisticPaths
from truerisk.engines.logistic import paths as logistic
from truerisk.engines.logistic import stops
from truerisk.engines.logistic.path_answers import has_near_ties
from truerisk.extend import Request
from truerisk.methods import Bootstrap, KFold
from truerisk.models import LogisticPath

ENGINE = LogisticPaths()
ENGINES = ENGINE, Generic()
LABEL, PROBABILITY = Request("label"), Request("probability")
RESPONSES = [LABEL, PROBABILITY, Request("score")]
REGRESSION, PIPED = LogisticRegression(), make_pipeline(StandardScaler(), LogisticRegression())


def widened(rng, X):
    """Many more columns than rows, most of them noise."""
    return np.c_[X, rng.normal(size=(len(X), 150 - X.shape[1]))]


TABLES = {
    "plain": lambda rng, X: X,
    "far": lambda rng, X: X + 10.0 ** rng.uniform(1, 8),
    "unscaled": lambda rng, X: X * 10.0 ** rng.uniform(-3, 6, X.shape[1]),
    "collinear": lambda rng, X: np.c_[X, X[:, 0] + 1e-6 * rng.normal(size=len(X))],
    "constant": lambda rng, X: np.c_[X, np.full(len(X), 2e5), np.zeros(len(X))],
    "copies": lambda rng, X: X[np.arange(len(X)) // 3],
    "whole numbers": lambda rng, X: np.round(X),
    "separable": lambda rng, X: np.c_[X, 50.0 * (np.arange(len(X)) % 2)],
    "wide": widened,
    "wide and far": lambda rng, X: widened(rng, X) + 10.0 ** rng.uniform(0, 4),
    "wide and unscaled": lambda rng, X: widened(rng, X) * 10.0 ** rng.uniform(-2, 3, 150),
    "wide copies": lambda rng, X: widened(rng, X)[np.arange(len(X)) // 2],
    "wide, some constant": lambda rng, X: np.c_[widened(rng, X), np.full((len(X), 30), 7.0)],
}


def problem(table, seed):
    """A learner, a plan and rows that two engines should answer alike."""
    rng = np.random.default_rng([seed, *table.encode()])
    n_classes = int(rng.choice([2, 2, 3]))
    X, y = drawn(int(rng.integers(14, 50)), int(rng.integers(1, 8)), n_classes, seed)
    X = TABLES[table](rng, X)
    model = LogisticRegression(
        tol=float(rng.choice([1e-4, 1e-4, 1e-2, 1e-6, 1e-8])),
        max_iter=int(rng.choice([100, 100, 7, 1000])),
    )
    grid = {"C": np.sort(10.0 ** rng.uniform(-4, 6, 3)).tolist()}
    if rng.random() < 0.4:
        model = make_pipeline(StandardScaler(), model)
        grid = {"logisticregression__C": grid["C"]}
    method = Bootstrap("oob", 4) if rng.random() < 0.3 else KFold(3)
    data = data_of(X, y)
    return family_of(model, grid), data, plan_of(method, data, seed)


def answered(engine, *given):
    """Answers, and the sentences of all warnings without their numbers."""
    answers, said = warnings_of(engine, *given)
    return answers.values.astype(float), {re.sub(r"[\d.e+-]+", "#", one) for one in said}


def words_and_numbers(rng, n, scaled=True):
    """Levels of words, some rare, and numbers of unlike sizes; steps that make a sparse table."""
    columns = {}
    for j in range(int(rng.integers(1, 4))):
        levels = int(rng.integers(2, 12))
        columns[f"word{j}"] = np.array([f"w{k}" for k in rng.integers(0, levels, n)])
    words = list(columns)
    for j in range(int(rng.integers(0, 3))):
        columns[f"number{j}"] = rng.normal(size=n) * 10.0 ** rng.integers(-2, 4)
    steps = [(OneHotEncoder(handle_unknown="ignore"), words)]
    if numbers := list(columns)[len(words) :]:
        steps.append((StandardScaler() if scaled else "passthrough", numbers))
    return pd.DataFrame(columns), make_column_transformer(*steps, sparse_threshold=1.0)


def sparse_problem(kind, seed):
    """A learner, a plan and a table that is sparse for the learner."""
    rng = np.random.default_rng([seed, *kind.encode()])
    n, n_classes = int(rng.integers(20, 70)), int(rng.choice([2, 2, 3]))
    model = LogisticRegression(
        tol=float(rng.choice([1e-4, 1e-4, 1e-2, 1e-6])),
        max_iter=int(rng.choice([100, 100, 7, 1000])),
    )
    Cs, prefix = np.sort(10.0 ** rng.uniform(-4, 5, 3)).tolist(), ""
    if kind == "given":
        X = rng.normal(size=(n, int(rng.integers(1, 20)))) * (rng.random(n) < 0.5)[:, None]
        X[:, 0] *= 10.0 ** rng.integers(-2, 5)
        score = X[:, -1]
        X = [sparse.csr_matrix, sparse.csc_array, sparse.coo_array][int(rng.integers(3))](X)
    else:
        X, steps = words_and_numbers(rng, n, scaled=kind == "scaled")
        score = (X["word0"] == "w1").to_numpy() * 2.0
        model, prefix = make_pipeline(steps, model), "logisticregression__"
    weights = {f"{prefix}sample_weight": rng.uniform(0.2, 3.0, n)} if rng.random() < 0.3 else {}
    y = np.clip(np.round(score + rng.normal(size=n)) % n_classes, 0, n_classes - 1)
    y[: 2 * n_classes] = np.arange(2 * n_classes) % n_classes
    data = data_of(X, np.array(list("abc"))[y.astype(int)], **weights)
    method = Bootstrap("oob", 4) if rng.random() < 0.3 else KFold(3)
    return family_of(model, {f"{prefix}C": Cs}), data, plan_of(method, data, seed)


PROBLEMS = [(problem, table, seed) for table in TABLES for seed in range(2)]
PROBLEMS += [(sparse_problem, k, s) for k in ("given", "scaled", "unscaled") for s in range(1, 4)]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("problem", "kind", "seed"), PROBLEMS)
def test_logistic_regression_followed_says_and_warns_as_its_fits(problem, kind, seed):
    """Labels to the letter, digits to 1e-9, ranks of two classes and every warning."""
    (family, data, plan), known = problem(kind, seed), {}
    for request in RESPONSES[: 3 if data.n_classes == 2 else 2]:
        given = family, data, plan, request
        reason = ENGINE.refuse(*given)
        if kind in TABLES or reason != "a fit sees one class only.":
            assert reason is None
            ours, heard = answered(ENGINE, *given)
            with fitted_once(LogisticRegression, known=known):
                theirs, expected = answered(Generic(), *given)
            assert heard == expected or kind not in TABLES
            if request is LABEL:
                assert np.array_equal(ours, theirs)
            else:
                np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


X, Y = drawn(150, 8, 2)
RNG = np.random.default_rng(0)
WORDS = pd.DataFrame({f"word{j}": RNG.choice(list("abcdefg"), 200) for j in range(5)})
MIXED = WORDS.assign(number=RNG.normal(size=200))
SAID = np.where((WORDS["word0"] < "d") + RNG.normal(size=200) > 0.5, "yes", "no")
SPARSE = (OneHotEncoder(), list(WORDS))
CODED = make_column_transformer(SPARSE, (StandardScaler(), ["number"]))
CODED = make_pipeline(CODED, LogisticRegression())


@pytest.mark.parametrize(
    ("model", "X", "y", "requests"),
    [(PIPED, X, Y, RESPONSES), (CODED, MIXED, SAID, [LABEL])],
    ids=["scaled", "sparse"],
)
def test_logistic_regression_at_its_defaults_is_seldom_fitted(model, X, y, requests):
    family = family_of(model, {"logisticregression__C": [0.01, 0.1, 1.0, 10.0]})
    for request in requests:
        made = fits_made(ENGINE, family, data_of(X, y), "5-fold", request)
        assert made["asked"] <= 1
        assert made["passes"] == 5


def test_logistic_path_after_steps_goes_its_own_way_on_sparse_tables():
    """Its answers are promised to the last bit, and sparse sums have other last bits."""
    steps = make_column_transformer(SPARSE, sparse_threshold=1.0)
    model = make_pipeline(steps, LogisticPath(n_lambdas=5))
    family, data = family_of(model, {"logisticpath__at": [1]}), data_of(WORDS[:40], SAID[:40])
    plan = plan_of("3-fold", data)
    assert fits_made(ENGINE, family, data, plan)["asked"] == 3
    ours, theirs = (answered(engine, family, data, plan, RESPONSES[2])[0] for engine in ENGINES)
    np.testing.assert_array_equal(ours, theirs)


def test_logistic_regression_of_a_table_of_zeros_nearly_alone_is_fitted():
    """Writing the zeros would take longer than the fits, or the memory of the machine."""
    empty = sparse.random(200, 20_000, density=1e-4, random_state=0, format="csr")
    reason = refusal_of(ENGINE, REGRESSION, data_of(empty, ["a", "b"] * 100), "3-fold")
    assert reason == "X is sparse, and too large, or too empty, to be made a dense table."
    words = data_of(pd.DataFrame({"name": [f"w{k}" for k in range(4_000)]}), ["a", "b"] * 2_000)
    steps = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["name"]))
    family = family_of(make_pipeline(steps, LogisticRegression()))
    assert fits_made(ENGINE, family, words, "2-fold")["asked"] == 2


def test_logistic_regression_is_followed_on_x_itself(monkeypatch):
    """A copy by columns would hold a second X for as long as the search lasts."""
    seen, follow = [], logistic.fit_until_stop

    def watched(group, X, *rest):
        seen.append(X)
        return follow(group, X, *rest)

    monkeypatch.setattr(logistic, "fit_until_stop", watched)
    tr.risk_curve(REGRESSION, {"C": [0.1, 1.0]}, X, Y, cv="3-fold")
    assert len(seen) == 3
    assert all(np.shares_memory(table, X) for table in seen)


THREE, CLASSES = drawn(40, 3, 3)
STEEP = (np.arange(30) % 2 * 80.0 + np.arange(30) / 30)[:, None]


@pytest.mark.parametrize(
    ("model", "data", "atol"),
    [
        # scikit-learn counts classes without weight, with nothing to fit them to.
        (REGRESSION, data_of(THREE, CLASSES, sample_weight=1.0 * (CLASSES != "c")), 1e-12),
        # One of two probabilities is 1 minus the other, so one of 1e-17 is 0.
        (LogisticRegression(C=1e6, tol=1e-2), data_of(STEEP, ["a", "b"] * 15), 1e-9),
    ],
)
def test_logistic_regression_gives_probabilities_of_0_where_scikit_learn_does(model, data, atol):
    for _, ours, theirs in each_of_both(
        ENGINE, family_of(model), data, plan_of("3-fold", data), [PROBABILITY]
    ):
        np.testing.assert_allclose(ours, theirs, atol=atol)
        assert np.array_equal(ours == 0, theirs == 0)


def test_logistic_regression_of_another_release_is_not_followed(monkeypatch):
    monkeypatch.setattr(logistic, "matches_installed_solver", lambda several_classes: False)
    found = refusal_of(ENGINE, REGRESSION, data_of(X, Y), "3-fold")
    assert found == "the installed SciPy or scikit-learn takes other steps than those it follows."


def test_ranks_are_close_only_between_classes():
    """Equal scores within a class change no rank; links of close scores count as one."""
    scores = np.array([[0.0, 1.0, 1.0, 2.0], [0.0, 1.0, 2.0, 2.0], [0.0, 0.9, 1.8, 9.0]])
    gap = np.array([1e-9, 1e-9, 1.0])
    assert has_near_ties(scores, np.array([0, 1, 1, 0]), gap).tolist() == [False, True, True]


@pytest.mark.parametrize(
    ("max_iter", "Cs", "most", "asked", "times"),
    [
        (4, [0.1, 1.0, 10.0], 1000, 1, 15),  # one is made for its warning, which counts for all
        (100, [1.0], 4, 5, 0),  # stops follow the solver so far: no limit of the learner's
    ],
)
def test_stops_answer_fits_that_are_cut_off_and_warn_as_often(
    max_iter, Cs, most, asked, times, monkeypatch
):
    monkeypatch.setattr(stops, "MAX_FOLLOWED_STEPS", most)
    data = data_of(*drawn(150, 8, 3))
    family = family_of(LogisticRegression(max_iter=max_iter), {"C": Cs})
    given = family, data, plan_of("5-fold", data), LABEL
    with counted() as seen:
        ours, heard = warnings_of(ENGINE, *given)
    theirs, expected = warnings_of(Generic(), *given)
    assert seen["asked"] == asked
    assert np.array_equal(ours.values, theirs.values)
    assert heard == expected
    assert [f"[{times} times in {times} fits]" in one for one in heard] == [True] * (times > 0)


def test_stops_turn_wide_rows_and_seldom_ask_the_learner(monkeypatch):
    """As many columns as there are rows, and one for what lies across; weights and copies, too."""
    rng = np.random.default_rng(3)
    shapes, follow = set(), stops.logistic_lbfgs

    def following(X, *given, **how):
        shapes.add(X.shape)
        return follow(X, *given, **how)

    monkeypatch.setattr(stops, "logistic_lbfgs", following)
    family = family_of(REGRESSION, {"C": [0.01, 0.1, 1.0, 10.0]})
    wide, y = rng.normal(size=(30, 200)), ["a", "b"] * 15
    data = data_of(wide, y, sample_weight=rng.uniform(0.5, 2.0, 30))
    for method in (KFold(5), Bootstrap("oob", 5)):
        for request in RESPONSES:
            given = family, data, plan_of(method, data), request
            with counted() as seen:
                ours, _ = answered(ENGINE, *given)
            theirs, _ = answered(Generic(), *given)
            np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)
            assert seen["asked"] <= 1
    assert {n + 1 for n, _ in shapes} == {width for _, width in shapes}
    assert max(shapes) == (24, 25)
    # of hardly more columns than rows it does not pay
    monkeypatch.setattr(stops, "rotate_rows", None)
    tr.estimate_risk(REGRESSION, *drawn(40, 60, 2), cv="5-fold", engine="logistic-path")
