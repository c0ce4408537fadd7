"""What the tests of engines with closed forms share: both engines, and counts of real fits."""

import warnings
from contextlib import contextmanager

import numpy as np
import pytest
from tests.support.fitted_once import fitted_once

from truerisk.contracts import RunOptions
from truerisk.engines import Generic
from truerisk.engines.templates import task as tasks
from truerisk.exceptions import FitFailed
from truerisk.extend import ALL, Data, Family, Plan, PlanBuilder, Request, Streams
from truerisk.methods import KFold, LeaveOneOut, as_method
from truerisk.testing import engine_checks

LOO, FOLDS = LeaveOneOut(), KFold(5)
RESPONSES = [Request("label"), Request("probability"), Request("score")]


def kit(engine, learners, further=3):
    """The published checks of an engine, for learners by name.

    For the first one 25 data sets are drawn with ties (12 once missed a mutation of them), 15 for
    plans of any kind, which are those of the other checks as well, and 4 for each of these. Further
    ones differ from it in a solver, a weight or a step: `further` are drawn.
    """
    checks = []
    for number, (word, (model, grid)) in enumerate(learners.items()):
        few, *often = (further,) * 3 if number else (4, 25, 15)
        family = Family.from_grid(model, grid)
        ties, any_plan = (engine_checks(engine, family, examples=examples) for examples in often)
        for check in engine_checks(engine, family, examples=few):
            for kind, many in (("ties", ties), ("generic", any_plan)):
                if kind in check.name:
                    check = next(one for one in many if one.name == check.name)
            checks.append(pytest.param(check, id=f"{engine.name}-{word}-{check}"))
    return checks


def drawn(n, p, n_classes, seed=0, sizes=None):
    """Classes that overlap, columns that correlate and lie away from 0."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes if sizes is None else np.repeat(range(len(sizes)), sizes)
    X = rng.normal(size=(n, p)) @ (np.eye(p) + 0.4 * rng.normal(size=(p, p))) + 3
    X += np.array([rng.normal(size=p) for _ in range(n_classes)])[y]
    return X, np.array(["a", "b", "c", "d"])[y]


def data_of(X, y, **fit_params):
    return Data.check(X, y, task="classification", fit_params=fit_params)


def family_of(estimator, grid=None):
    return Family.from_grid(estimator, grid)


def plan_of(method, data, seed=0):
    """Draw the plan of a method or its word, without what it warns of. A plan stays as it is."""
    if isinstance(method, Plan):
        return method
    if method == "bootstrap":
        return copies_and_flips(data, seed=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of rare classes
        return as_method(method).plan(data, Streams(seed))


@contextmanager
def counted(monkeypatch=None):
    """Count the real fits of the learner, and the passes over a train set."""
    seen = {"asked": 0, "passes": 0}
    fit, shown = tasks.fit_batch, tasks.Task.shown

    def asking(*arguments):
        seen["asked"] += sum(len(candidates) for _, candidates in arguments[-1])
        return fit(*arguments)

    def showing(task, number):
        seen["passes"] += 1
        return shown(task, number)

    with (monkeypatch or pytest.MonkeyPatch).context() as patch:
        patch.setattr(tasks, "fit_batch", asking)
        patch.setattr(tasks.Task, "shown", showing)
        yield seen


def fits_made(engine, family, data, method, request=RESPONSES[0]):
    """Return the counts of real fits and passes when the engine answers."""
    with counted() as seen:
        values_of(engine, family, data, plan_of(method, data), request)
    return seen


def refusal_of(engine, model, data, method="loo", request=RESPONSES[0], grid=None):
    """Return why the engine does not answer, or None."""
    return engine.refuse(family_of(model, grid), data, plan_of(method, data), request)


def both(engine, family, data, method, request, only=None):
    """Answers of the engine and of the generic one, without what scikit-learn warns of."""
    plan = plan_of(method, data)
    reason = engine.refuse(family, data, plan, request)
    assert reason is None, reason
    return [values_of(e, family, data, plan, request, only) for e in (engine, Generic())]


def values_of(engine, family, data, plan, request, only=None):
    """The answers of one engine, without what scikit-learn warns of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return engine.run(family, data, plan, request, RunOptions(candidate_by_fit=only)).values


def each_of_both(engine, family, data, plan, requests, only=None):
    """What `both` answer to each request that there is; they fit the same, so it is fitted once."""
    with fitted_once(type(family.last)):
        for request in requests:
            if request.response == "score" and data.n_classes != 2:
                continue
            yield request, *both(engine, family, data, plan, request, only)


def require_equal(engine, family, data, method, requests, only=None, seed=0):
    """To 1e-8 relative; labels to the letter. The plan, for what follows."""
    plan = plan_of(method, data, seed)
    for request, found, expected in each_of_both(engine, family, data, plan, requests, only):
        if request.response == "label":
            assert (found == expected).all()
        else:
            np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-11, equal_nan=False)
    return plan


def require_numbers(engine, family, data, method, response="value", only=None):
    """To 1e-8 relative, or 1e-9 of the largest; labels to the letter."""
    found, expected = both(engine, family, data, method, Request(response), only)
    assert found.dtype == expected.dtype
    if response == "label":
        np.testing.assert_array_equal(found, expected)
    else:
        size = np.abs(expected).max(initial=0.0)
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-9 * size)


def copies_and_flips(data, step=4, seed=0):
    """Bootstrap samples, and fits on all rows of which one is shown with another class."""
    n, rng = data.n_rows, np.random.default_rng(seed)
    builder = PlanBuilder(n)
    for _ in range(4):
        sample = builder.block(rng.integers(0, n, n))
        builder.ask((sample, ()), (ALL, (sample,)))
        builder.ask((sample, ()), (ALL, ()), part="all")
    for row in range(0, n if data.codes is not None else 0, step):
        flip = [(row, (int(data.codes[row]) + 1) % data.n_classes)]
        builder.ask((ALL, ()), (builder.block(np.array([row])), ()), part="flip", flips=flip)
    return builder.build()


def last_two_rows(n):
    """A plan of one fit, on all rows but the last two, which it is asked about."""
    return one_fit(n, np.arange(n - 2), np.arange(n - 2, n))


def warnings_of(engine, family, data, plan, request=RESPONSES[1]):
    """The answers and the sentences of all warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        answers = engine.run(family, data, plan, request, RunOptions())
    return answers, sorted(str(w.message) for w in caught)


def outcome(engine, family, data, plan, request=RESPONSES[1]):
    """The answers and what was warned of, or the error."""
    try:
        answers, said = warnings_of(engine, family, data, plan, request)
    except FitFailed as error:
        return str(error)
    return answers.values, said


def require_same_outcome(engine, family, data, method, request=RESPONSES[1]):
    """Answers and warnings, or the error, are the generic engine's. Return them."""
    plan = plan_of(method, data)
    ours, theirs = (outcome(e, family, data, plan, request) for e in (engine, Generic()))
    assert type(ours) is type(theirs), (ours, theirs)
    if isinstance(ours, str):
        assert ours == theirs
    else:
        np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-8, atol=1e-11)
        assert ours[1] == theirs[1]
    return ours


def one_fit(n, train, test):
    """A plan of one fit on these rows of n, which is asked about others."""
    builder = PlanBuilder(n)
    seen, rest = (builder.block(np.sort(rows)) for rows in (train, test))
    builder.ask((seen, ()), (rest, ()))
    return builder.build()
