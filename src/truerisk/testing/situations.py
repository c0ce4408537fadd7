"""Situations for checks of engines: small data, simple plans and every response of a family."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from truerisk.contracts import Engine, Request, RunOptions
from truerisk.core.family import Family
from truerisk.core.frozen import frozen
from truerisk.data.data import Data
from truerisk.plan.answers import Answers
from truerisk.plan.blocks import ALL
from truerisk.plan.builder import PlanBuilder
from truerisk.plan.plan import Plan
from truerisk.testing.cases import quiet
from truerisk.testing.toy_learners import NearestMean


@frozen(eq=False)
class Situation:
    """Everything that an engine is given."""

    family: Family
    data: Data
    plan: Plan
    request: Request


def usual_families() -> tuple[Family, ...]:
    """Return a rule for classes, one for numbers, and one with random predictions."""
    from sklearn.dummy import DummyClassifier
    from sklearn.linear_model import Ridge

    return (
        Family.from_grid(NearestMean(), {"rest": [0.0, 0.5, 1.0]}),
        Family.from_grid(Ridge(), {"alpha": [0.1, 10.0]}),
        Family.from_grid(DummyClassifier(), {"strategy": ["uniform", "stratified"]}),
    )


def situations(family: Family) -> Iterator[Situation]:
    """Yield four plans with the usual response, then folds with every other response."""
    data = plain_data(family)
    usual, *others = requests(family, data)
    for plan in _plans(data.n_rows):
        yield Situation(family, data, plan, usual)
    for request in others:
        yield Situation(family, data, _folds(data.n_rows), request)


def widths_of(family: Family) -> tuple[int | None, int | None]:
    """Return the largest numbers of columns and classes that the learner's tags allow.

    None means any number.
    """
    from sklearn.utils import get_tags

    tags = get_tags(family.estimator)
    binary = tags.classifier_tags is not None and not tags.classifier_tags.multi_class
    return None if tags.input_tags.two_d_array else 1, 2 if binary else None


def plain_data(family: Family) -> Data:
    """Return twelve rows with two features (or one, if necessary) and two classes, or numbers."""
    rng = np.random.default_rng(4)
    y = np.arange(12) % 2
    X = rng.integers(2**10, size=(12, 2)) / 2**8 + y[:, None]
    if widths_of(family)[0] == 1:
        X = np.ascontiguousarray(X[:, :1])
    if family.task == "regression":
        return Data.check(X, X @ np.array([1.0, -2.0])[: X.shape[1]] + y, task="regression")
    return Data.check(X, y, task="classification")


def requests(family: Family, data: Data) -> list[Request]:
    """Return every response that the family can give for these data, the usual one first."""
    from sklearn.metrics import get_scorer

    if data.task == "regression":
        return [Request("value"), Request("scored", get_scorer("neg_mean_squared_error"))]
    model = family.make(0)
    found = [Request("label"), Request("scored", get_scorer("accuracy"))]
    if hasattr(model, "predict_proba"):
        found.append(Request("probability"))
    ranks = hasattr(model, "decision_function") or hasattr(model, "predict_proba")
    if data.n_classes == 2 and ranks:
        found.append(Request("score"))
    return found


def weight_of(family: Family) -> str | None:
    """Return the fit parameter for sample weights, or None if the learner has none."""
    from sklearn.utils.validation import has_fit_parameter

    return "sample_weight" if has_fit_parameter(family.estimator, "sample_weight") else None


def willing_on(engine: Engine, family: Family) -> list[Situation]:
    """Return the situations that the engine does not refuse."""
    return [
        s for s in situations(family) if engine.refuse(s.family, s.data, s.plan, s.request) is None
    ]


def run_on(
    engine: Engine,
    s: Situation,
    *,
    only: np.ndarray | None = None,
    requested: np.ndarray | None = None,
    executor: Any = None,
) -> Answers:
    """Return the engine's answers with seed 3."""
    with quiet():
        run = RunOptions(executor, 3, only, needed=requested)
        return engine.run(s.family, s.data, s.plan, s.request, run)


def _plans(n: int) -> Iterator[Plan]:
    yield _folds(n)
    loo, holdout, apparent = PlanBuilder(n), PlanBuilder(n), PlanBuilder(n)
    for row, block in enumerate(loo.partition(np.arange(n))):
        loo.ask((ALL, (block,)), (block, ()), fold=row)
    test = holdout.block(np.arange(n // 3))
    holdout.ask((ALL, (test,)), (test, ()))
    apparent.ask((ALL, ()), (ALL, ()), part="apparent")
    yield from (loo.build(), holdout.build(), apparent.build())


def _folds(n: int) -> Plan:
    """Return three folds that contain both classes."""
    builder = PlanBuilder(n)
    for fold, block in enumerate(builder.partition(np.arange(n) // 2 % 3)):
        builder.ask((ALL, (block,)), (block, ()), fold=fold)
    return builder.build()
