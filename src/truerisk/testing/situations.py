"""Fixed inputs for conformance tests of engines: small data, simple plans, every response."""

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
from truerisk.testing.cases import suppressed_warnings
from truerisk.testing.toy_learners import NearestMean


@frozen(eq=False)
class EngineInput:
    """Input of one engine run: family, data, plan and type of prediction."""

    family: Family
    data: Data
    plan: Plan
    request: Request


def default_families() -> tuple[Family, ...]:
    """Return three families: a classifier, a regressor and a classifier that predicts at random."""
    from sklearn.dummy import DummyClassifier
    from sklearn.linear_model import Ridge

    return (
        Family.from_grid(NearestMean(), {"rest": [0.0, 0.5, 1.0]}),
        Family.from_grid(Ridge(), {"alpha": [0.1, 10.0]}),
        Family.from_grid(DummyClassifier(), {"strategy": ["uniform", "stratified"]}),
    )


def fixed_engine_inputs(family: Family) -> Iterator[EngineInput]:
    """Yield the fixed inputs of engines for one family.

    The first four are simple plans with the default type of prediction. The others are three folds
    with each other type of prediction.
    """
    data = make_small_data(family)
    default_request, *other_requests = list_requests(family, data)
    for plan in _simple_plans(data.n_rows):
        yield EngineInput(family, data, plan, default_request)
    for request in other_requests:
        yield EngineInput(family, data, _folds(data.n_rows), request)


def max_columns_and_classes(family: Family) -> tuple[int | None, int | None]:
    """Return the largest numbers of feature columns and of classes that the learner's tags allow.

    None means that any number is allowed.
    """
    from sklearn.utils import get_tags

    estimator_tags = get_tags(family.estimator)
    is_binary_only = (
        estimator_tags.classifier_tags is not None
        and not estimator_tags.classifier_tags.multi_class
    )
    return None if estimator_tags.input_tags.two_d_array else 1, 2 if is_binary_only else None


def make_small_data(family: Family) -> Data:
    """Return a data set of twelve rows: one or two features, and two classes or a numeric target.

    A single feature is used if the learner accepts no more.
    """
    rng = np.random.default_rng(4)
    y = np.arange(12) % 2
    X = rng.integers(2**10, size=(12, 2)) / 2**8 + y[:, None]
    if max_columns_and_classes(family)[0] == 1:
        X = np.ascontiguousarray(X[:, :1])
    if family.task == "regression":
        return Data.check(X, X @ np.array([1.0, -2.0])[: X.shape[1]] + y, task="regression")
    return Data.check(X, y, task="classification")


def list_requests(family: Family, data: Data) -> list[Request]:
    """Return the types of prediction that the family supports on these data, the default first."""
    from sklearn.metrics import get_scorer

    if data.task == "regression":
        return [Request("value"), Request("scored", get_scorer("neg_mean_squared_error"))]
    unfitted_model = family.make(0)
    supported_requests = [Request("label"), Request("scored", get_scorer("accuracy"))]
    if hasattr(unfitted_model, "predict_proba"):
        supported_requests.append(Request("probability"))
    has_decision_values = hasattr(unfitted_model, "decision_function") or hasattr(
        unfitted_model, "predict_proba"
    )
    if data.n_classes == 2 and has_decision_values:
        supported_requests.append(Request("score"))
    return supported_requests


def find_weight_parameter(family: Family) -> str | None:
    """Return the name of the fit parameter for sample weights, or None if the learner has none."""
    from sklearn.utils.validation import has_fit_parameter

    return "sample_weight" if has_fit_parameter(family.estimator, "sample_weight") else None


def accepted_engine_inputs(engine: Engine, family: Family) -> list[EngineInput]:
    """Return the fixed inputs that the engine does not refuse for this family."""
    return [
        engine_input
        for engine_input in fixed_engine_inputs(family)
        if engine.refuse(
            engine_input.family, engine_input.data, engine_input.plan, engine_input.request
        )
        is None
    ]


def run_engine(
    engine: Engine,
    engine_input: EngineInput,
    *,
    only: np.ndarray | None = None,
    requested: np.ndarray | None = None,
    executor: Any = None,
) -> Answers:
    """Run the engine on one fixed input with seed 3."""
    with suppressed_warnings():
        run_options = RunOptions(executor, 3, only, is_needed=requested)
        return engine.run(
            engine_input.family,
            engine_input.data,
            engine_input.plan,
            engine_input.request,
            run_options,
        )


def _simple_plans(n_rows: int) -> Iterator[Plan]:
    yield _folds(n_rows)
    loo_builder, holdout_builder, apparent_builder = (
        PlanBuilder(n_rows),
        PlanBuilder(n_rows),
        PlanBuilder(n_rows),
    )
    for row, row_block in enumerate(loo_builder.partition(np.arange(n_rows))):
        loo_builder.ask((ALL, (row_block,)), (row_block, ()), fold=row)
    test_block = holdout_builder.block(np.arange(n_rows // 3))
    holdout_builder.ask((ALL, (test_block,)), (test_block, ()))
    apparent_builder.ask((ALL, ()), (ALL, ()), part="apparent")
    yield from (loo_builder.build(), holdout_builder.build(), apparent_builder.build())


def _folds(n: int) -> Plan:
    """Return a plan of three folds; every fold contains both classes."""
    builder = PlanBuilder(n)
    for fold, fold_block in enumerate(builder.partition(np.arange(n) // 2 % 3)):
        builder.ask((ALL, (fold_block,)), (fold_block, ()), fold=fold)
    return builder.build()
