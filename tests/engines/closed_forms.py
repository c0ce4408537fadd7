"""What the tests of engines with closed forms share: both engines, and counts of real fits."""

from __future__ import annotations

import warnings
from contextlib import contextmanager

import numpy as np
import pytest

from truerisk.core.contracts import Request, RunOptions, Streams
from truerisk.core.family import Family
from truerisk.core.table.data import Data
from truerisk.engines.generic import Generic
from truerisk.engines.templates import task as tasks
from truerisk.testing import engine_checks

RESPONSES = [Request("label"), Request("probability"), Request("score")]


def kit(engine, learners):
    """The published checks of an engine, for learners by name."""
    return [
        pytest.param(check, id=f"{word}-{check}")
        for word, (model, grid) in learners.items()
        for check in engine_checks(engine, Family.of(model, grid))
    ]


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
    return Family.of(estimator, grid)


@contextmanager
def counted(monkeypatch):
    """Counts of real fits of the learner, and of passes over a train set."""
    seen = {"asked": 0, "passes": 0}
    fit, shown = tasks.fit_pieces, tasks.Task.shown

    def asking(*arguments):
        seen["asked"] += sum(len(candidates) for _, candidates in arguments[-1])
        return fit(*arguments)

    def showing(task, number):
        seen["passes"] += 1
        return shown(task, number)

    with monkeypatch.context() as patch:
        patch.setattr(tasks, "fit_pieces", asking)
        patch.setattr(tasks.Task, "shown", showing)
        yield seen


def both(engine, family, data, plan, request, only=None):
    """Answers of the engine and of the generic one, without what scikit-learn warns of."""
    reason = engine.refuse(family, data, plan, request)
    assert reason is None, reason
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run = RunOptions(only=only)
        return [e.run(family, data, plan, request, run).values for e in (engine, Generic())]


def require_equal(engine, family, data, method, requests, only=None):
    """To 1e-8 relative; labels to the letter. The plan, for what follows."""
    plan = method.plan(data, Streams(0))
    for request in requests:
        if request.response == "score" and data.n_classes != 2:
            continue
        found, expected = both(engine, family, data, plan, request, only)
        if request.response == "label":
            assert (found == expected).all()
        else:
            assert np.allclose(found, expected, rtol=1e-8, atol=1e-11), np.abs(
                found - expected
            ).max()
    return plan


def warnings_of(engine, family, data, plan, request=RESPONSES[1]):
    """The answers and the sentences of all warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        answers = engine.run(family, data, plan, request, RunOptions())
    return answers, sorted(str(w.message) for w in caught)
