"""A stored plan is replayed, the seed is reported, and the interval is that of the folds."""

import json
from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import truerisk as tr
from truerisk.engines.trees.recipes import equality_gap
from truerisk.estimation.problem import problem_from_arguments
from truerisk.estimation.run import compute_risks, to_risk_curve
from truerisk.exceptions import UnknownName
from truerisk.extend import BadArgument, Evaluation, Family, Plan, Streams
from truerisk.methods import KFold, Nested

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 2))
Y = (X[:, 0] + RNG.normal(size=40) > 0).astype(int)
FAMILY = Family.from_grid(KNeighborsClassifier(), {"n_neighbors": [1, 3, 5]})


@pytest.mark.parametrize("method", [KFold(4), Nested("4-fold", "3-fold")], ids=["flat", "nested"])
def test_compute_replays_a_stored_plan(method):
    problem = problem_from_arguments(FAMILY, X, Y, random_state=7)
    first = compute_risks(problem, method)
    stored = Plan.from_dict(json.loads(json.dumps(first.plan.to_dict())))
    other = problem_from_arguments(FAMILY, X, Y, random_state=99)
    again = compute_risks(other, method, plan=stored)
    assert to_risk_curve(again).values.tolist() == to_risk_curve(first).values.tolist()
    prints = [c.plan.fingerprint for c in (first, again)]
    assert prints[0] == prints[1] != compute_risks(other, method).plan.fingerprint


def test_best_is_chosen_by_the_rule():
    """`best` is chosen by the rule, ties to the first or the simplest, and the curve says so."""
    for rule in ("min", "1-se"):
        curve = to_risk_curve(
            compute_risks(problem_from_arguments(FAMILY, X, Y, rule=rule), "5-fold")
        )
        assert (curve.rule, bool(curve.ties)) == (rule, True)
        errors = curve.std_errors if rule == "1-se" else np.zeros(3)
        lowest = int(curve.values.argmin())
        good = np.flatnonzero(curve.values <= curve.values[lowest] + errors[lowest])
        assert curve.best == good[-1 if rule == "1-se" else 0]  # more neighbours are simpler


def test_procedure_has_the_setting_that_every_split_chose():
    curve = to_risk_curve(
        compute_risks(
            problem_from_arguments(
                Family.from_grid(DecisionTreeClassifier(max_depth=1), {"max_depth": [1, 1]}), X, Y
            ),
            Nested("3-fold", "3-fold"),
        )
    )
    assert curve.procedure.params == {"max_depth": 1}
    many = to_risk_curve(
        compute_risks(
            problem_from_arguments(FAMILY, X, Y, random_state=1), Nested("8-fold", "4-fold")
        )
    )
    chosen = {u.candidate for u in many.evaluation.units}
    assert (many.procedure.params == {}) == (len(chosen) > 1)


@pytest.mark.parametrize(
    "state", [None, 3, np.int64(3), np.random.default_rng(0), np.random.RandomState(0)]
)
def test_seed_of_a_result_repeats_it(state):
    problem = problem_from_arguments(FAMILY, X, Y, random_state=state)
    first = to_risk_curve(compute_risks(problem, "4-fold"))
    again = to_risk_curve(
        compute_risks(problem_from_arguments(FAMILY, X, Y, random_state=first[0].seed), "4-fold")
    )
    assert again.values.tolist() == first.values.tolist()


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        *[
            ({"confidence_level": level}, BadArgument, "use a level between 0 and 1")
            for level in (0, 1, -1, 95, float("nan"))
        ],
        *[({"random_state": state}, UnknownName, "seed") for state in (-1, "a", 1.5, True)],
    ],
)
def test_pose_refuses_what_is_no_level_or_seed(given, error, message):
    with pytest.raises(error, match=message):
        problem_from_arguments(FAMILY, X, Y, **given)


def test_streams_are_independent_by_name():
    """Children have streams of their own; the same name is the same stream."""
    streams = Streams(0)
    draws = [
        int(s.get(name).integers(2**62))
        for s in (streams, streams.child("a"), streams.child("b"), Streams(1))
        for name in ("x", "y", "xy")
    ]
    assert len(set(draws)) == 12
    assert int(Streams(0).get("x").integers(2**62)) == draws[0]


def test_n_jobs_of_a_later_call_stands_before_that_of_the_search():
    """One job is this process; nothing said leaves the place of the search."""
    problem = problem_from_arguments(FAMILY, X, Y, n_jobs=3)
    assert [problem.with_executor(n_jobs).executor for n_jobs in (None, 1, 2)] == [3, None, 2]


def test_compute_accepts_a_subclass_of_evaluation():
    """A method of a user's own may return more fields; those of every Evaluation are kept."""

    @dataclass(frozen=True, eq=False)
    class Timed(Evaluation):
        seconds_of_folds: tuple[float, ...] = ()

    @dataclass(frozen=True)
    class TimedFolds(KFold):
        def evaluate(self, *args):
            return Timed(**vars(super().evaluate(*args)), seconds_of_folds=(1.0,))

    problem = problem_from_arguments(FAMILY, X, Y)
    own, plain = (compute_risks(problem, method(5)) for method in (TimedFolds, KFold))
    assert to_risk_curve(own).values.tolist() == to_risk_curve(plain).values.tolist()


ROWS = np.random.default_rng(1).normal(size=(60, 3))
VALUES = ROWS[:, 0] + np.random.default_rng(2).normal(size=60)
CASES = [
    (KNeighborsClassifier(), {"n_neighbors": [1, 5]}),
    (LinearDiscriminantAnalysis(), {"solver": ["svd"]}),
    (DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2]}),
    (Ridge(), {"alpha": [0.1, 1.0]}),
    (DecisionTreeRegressor(random_state=0), {"max_depth": [1, 2]}),
]


def risk_of(model, grid, **options):
    """The honest risk of a search with five outer folds."""
    search = tr.HonestSearchCV(model, grid, outer="5-fold", **options)
    return search.fit(ROWS, VALUES > 0 if is_classifier(model) else VALUES).risk_


def the_same(one, other):
    """Value, interval and notes, up to the order of sums."""
    for name in ("low", "high"):
        assert getattr(one.interval, name) == pytest.approx(getattr(other.interval, name), rel=1e-9)
    assert one.value == pytest.approx(other.value, rel=1e-9)
    assert one.interval.method == other.interval.method
    assert one.notes == other.notes


@pytest.mark.filterwarnings("ignore::truerisk.exceptions.CompiledModuleWarning")
@pytest.mark.parametrize(("model", "grid"), CASES, ids=lambda case: type(case).__name__)
def test_interval_does_not_depend_on_the_engine(model, grid, monkeypatch):
    """The fastest engine, the generic one, the one without compiled kernels: all the same."""
    found, generic = risk_of(model, grid), risk_of(model, grid, engine="generic")
    assert found.interval.method == ("beta-cv" if is_classifier(model) else "log-cv")
    the_same(generic, found)
    the_same(risk_of(model, grid, interval=found.interval.method), found)
    equality_gap.cache_clear()
    monkeypatch.setattr("truerisk.kernels.import_native", lambda: (None, "none"))
    the_same(risk_of(model, grid), generic)
    equality_gap.cache_clear()


def tuned(outer, **options):
    """Return the honest risk of tuned nearest neighbours."""
    search = tr.HonestSearchCV(*CASES[0], outer=outer, cv="3-fold", **options)
    return search.fit(ROWS, VALUES > 0).risk_


def test_interval_of_several_drawings_notes_the_instability():
    """The note says how unstable the learner is, and by what the variance is enlarged."""
    assert not any("instability" in note for note in tuned("5-fold").notes)
    note = tuned("4x5-fold").notes[-1]
    assert note.startswith("the interval is widened (variance × ")
    assert note.endswith("; 0 is none, 0.5 is large).")


@pytest.mark.parametrize(
    ("outer", "scoring", "method"),
    [
        (tr.methods.MonteCarlo(5), None, "corrected-t"),
        ("5-fold", "f1_micro", None),
        ("loo", "auc", None),
        (tr.methods.KFold(5, average="pooled"), "auc", None),
        (tr.methods.Pairs("5-fold", average="pooled"), "auc", None),
    ],
    ids=["random splits", "whole models", "loo", "K-fold", "pairs"],
)
def test_interval_is_the_methods_own_or_none_where_none_is_calibrated(outer, scoring, method):
    """Pooled answers have one AUC: nobody asked for an interval, so its lack is a note."""
    risk = tuned(outer, scoring=scoring)
    assert risk.value is not None
    assert getattr(risk.interval, "method", None) == method


def test_interval_of_a_score_of_one_setting_is_calibrated():
    """By words whose folds hold every row once; elsewhere nothing is invented."""
    score = {"scoring": ["auc", "f1", "zero-one"]}
    found = tr.estimate_risk(LinearDiscriminantAnalysis(), ROWS, VALUES > 0, cv="5-fold", **score)
    asked = tr.estimate_risk(
        LinearDiscriminantAnalysis(),
        ROWS,
        VALUES > 0,
        cv="5-fold",
        scoring="auc",
        interval="logit-cv",
    )
    assert found.interval == asked.interval
    assert found.scores["f1"].interval.method == "logit-cv"
    assert found.scores["zero-one"].interval.method == "beta-cv"
    for method in ("holdout", "monte-carlo", ".632"):
        one = tr.estimate_risk(
            LinearDiscriminantAnalysis(), ROWS, VALUES > 0, cv=method, scoring="auc"
        )
        assert one.interval is None
