"""LogisticRegression is answered where its own solver stops, or asked itself."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.engines.closed_forms import counted, data_of, drawn, family_of
from tests.support.fitted_once import fitted_once

import truerisk as tr
from truerisk.contracts import Request, RunOptions, Streams
from truerisk.engines.generic import Generic
from truerisk.engines.logistic import paths as logistic
from truerisk.engines.logistic import stops
from truerisk.engines.logistic.path_answers import ranks_are_close
from truerisk.engines.logistic.paths import LogisticPaths
from truerisk.methods import Bootstrap

RESPONSES = ["label", "probability", "score"]


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
    data = data_of(X, y)
    method = Bootstrap("oob", 4) if rng.random() < 0.3 else tr.methods.KFold(3)
    return family_of(model, grid), data, method.plan(data, Streams(seed))


def answered(engine, *given):
    """Answers, and the sentences of all warnings without their numbers."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        answers = engine.run(*given, RunOptions()).values.astype(float)
    return answers, {re.sub(r"[\d.e+-]+", "#", str(w.message)) for w in caught}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("seed", range(2))
def test_it_says_what_the_fits_say_and_warns_as_they_warn(table, seed):
    """Labels to the letter, digits to 1e-9, ranks of two classes and every warning."""
    (family, data, plan), known = problem(table, seed), {}
    for response in RESPONSES[: 3 if data.n_classes == 2 else 2]:
        given = family, data, plan, Request(response)
        assert LogisticPaths().refuse(*given) is None
        ours, heard = answered(LogisticPaths(), *given)
        with fitted_once(LogisticRegression, known=known):
            theirs, wanted = answered(Generic(), *given)
        assert heard == wanted
        if response == "label":
            assert np.array_equal(ours, theirs)
        else:
            np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


def test_the_table_of_all_fits_is_x_itself(monkeypatch):
    """A copy by columns would hold a second X for as long as the search lasts."""
    seen, follow = [], logistic.stopped

    def watched(group, X, *rest):
        seen.append(X)
        return follow(group, X, *rest)

    monkeypatch.setattr(logistic, "stopped", watched)
    X, y = drawn(60, 4, 2)
    tr.risk_curve(LogisticRegression(), {"C": [0.1, 1.0]}, X, y, cv="3-fold")
    assert len(seen) == 3
    assert all(np.shares_memory(table, X) for table in seen)


def test_a_year_does_not_move_the_log_loss():
    """A column far from 0 lets the solver stop early: that is what the user's model does."""
    X, y = drawn(80, 4, 2)
    X[:, 0] += 3000
    found = [
        tr.estimate_risk(LogisticRegression(), X, y, cv="5-fold", scoring="log", engine=engine)
        for engine in ("logistic-path", "generic", LogisticPaths(minimiser=True))
    ]
    assert found[0].value == pytest.approx(found[1].value, rel=1e-12)
    assert abs(found[2].value - found[1].value) > 0.05


def test_scaled_tables_are_seldom_asked_of_the_learner(monkeypatch):
    """At scikit-learn's defaults, for labels, probabilities and scores."""
    X, y = drawn(150, 8, 2)
    data = data_of(X, y)
    model = make_pipeline(StandardScaler(), LogisticRegression())
    family = family_of(model, {"logisticregression__C": [0.01, 0.1, 1.0, 10.0]})
    plan = tr.methods.KFold(5).plan(data, Streams(0))
    for response in RESPONSES:
        with counted(monkeypatch) as seen:
            LogisticPaths().run(family, data, plan, Request(response), RunOptions())
        assert seen["asked"] <= 1
        assert seen["passes"] == 5


def test_classes_without_weight_are_left_to_the_learner():
    """scikit-learn counts them as classes, with nothing to fit them to."""
    X, y = drawn(40, 3, 3)
    weights = np.where(y == "c", 0.0, 1.0)
    data = data_of(X, y, sample_weight=weights)
    given = family_of(LogisticRegression()), data, tr.methods.KFold(3).plan(data, Streams(0))
    (ours, _), (theirs, _) = (
        answered(e, *given, Request("probability")) for e in (LogisticPaths(), Generic())
    )
    np.testing.assert_allclose(ours, theirs, atol=1e-12)


def test_small_probabilities_lose_their_digits_as_scikit_learn_loses_them():
    """One of the two is 1 minus the other, so one of 1e-17 is 0."""
    y = np.array(["a", "b"] * 15)
    X = (np.arange(30) % 2 * 80.0 + np.arange(30) / 30)[:, None]
    data = data_of(X, y)
    given = family_of(LogisticRegression(C=1e6, tol=1e-2)), data
    plan = tr.methods.KFold(3).plan(data, Streams(0))
    (ours, _), (theirs, _) = (
        answered(e, *given, plan, Request("probability")) for e in (LogisticPaths(), Generic())
    )
    assert np.array_equal(ours == 0, theirs == 0)


def test_other_steps_of_another_release_are_not_answered(monkeypatch):
    """What is followed is compared once per process; where it differs the engine refuses."""
    monkeypatch.setattr(logistic, "follows_the_solver", lambda several_classes: False)
    X, y = drawn(30, 3, 2)
    data = data_of(X, y)
    plan = tr.methods.KFold(3).plan(data, Streams(0))
    found = LogisticPaths().refuse(family_of(LogisticRegression()), data, plan, Request("label"))
    assert found == "the installed SciPy or scikit-learn takes other steps than those it follows."


def test_ranks_are_close_only_between_classes():
    """Equal scores within a class change no rank; links of close scores count as one."""
    scores = np.array([[0.0, 1.0, 1.0, 2.0], [0.0, 1.0, 2.0, 2.0], [0.0, 0.9, 1.8, 9.0]])
    codes = np.array([0, 1, 1, 0])
    gap = np.array([1e-9, 1e-9, 1.0])
    assert ranks_are_close(scores, codes, gap).tolist() == [False, True, True]


def test_stops_answer_fits_that_are_cut_off_and_warn_as_often(monkeypatch):
    """One of them is made for its warning, which then counts for all."""
    X, y = drawn(150, 8, 3)
    data = data_of(X, y)
    family = family_of(LogisticRegression(max_iter=4), {"C": [0.1, 1.0, 10.0]})
    given = family, data, tr.methods.KFold(5).plan(data, Streams(0)), Request("label")
    said = []
    for engine in (LogisticPaths(), Generic()):
        with counted(monkeypatch) as seen, warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            answers = engine.run(*given, RunOptions())
        said.append((answers.values.tolist(), [str(w.message) for w in heard]))
        assert engine.word == "generic" or seen["asked"] == 1
    assert said[0] == said[1]
    assert said[0][1][0].endswith("[15 times in 15 fits]")


def test_stops_leave_a_limit_beyond_the_followed_steps_to_the_learner(monkeypatch):
    """The steps are followed up to a number of its own, which is no limit of the learner's."""
    monkeypatch.setattr(stops, "MOST", 4)
    X, y = drawn(150, 8, 2)
    data = data_of(X, y)
    given = family_of(LogisticRegression()), data, tr.methods.KFold(5).plan(data, Streams(0))
    with counted(monkeypatch) as seen:
        (ours, heard), (theirs, _) = (
            answered(e, *given, Request("label")) for e in (LogisticPaths(), Generic())
        )
    assert seen["asked"] == 5
    assert np.array_equal(ours, theirs)
    assert not heard


def test_wide_rows_are_turned_and_the_learner_seldom_asked(monkeypatch):
    """As many columns as there are rows, and one for what lies across; weights and copies, too."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(30, 200)), np.array(["a", "b"])[np.arange(30) % 2]
    shapes, follow = set(), stops.logistic_lbfgs

    def following(X, *given, **how):
        shapes.add(X.shape)
        return follow(X, *given, **how)

    monkeypatch.setattr(stops, "logistic_lbfgs", following)
    family = family_of(LogisticRegression(), {"C": [0.01, 0.1, 1.0, 10.0]})
    data = data_of(X, y, sample_weight=rng.uniform(0.5, 2.0, 30))
    for method in (tr.methods.KFold(5), Bootstrap("oob", 5)):
        plan = method.plan(data, Streams(0))
        for response in RESPONSES:
            given = family, data, plan, Request(response)
            with counted(monkeypatch) as seen:
                ours, _ = answered(LogisticPaths(), *given)
            theirs, _ = answered(Generic(), *given)
            np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)
            assert seen["asked"] <= 1
    assert {n + 1 for n, _ in shapes} == {width for _, width in shapes}
    assert max(shapes) == (24, 25)


def test_rows_are_not_turned_where_it_does_not_pay(monkeypatch):
    """Hardly more columns than rows."""
    monkeypatch.setattr(stops, "turned", None)
    X, y = drawn(40, 60, 2)
    tr.estimate_risk(LogisticRegression(), X, y, cv="5-fold", engine="logistic-path")
