"""Data sets and learners on which methods are tested, and functions that alter them.

An equivalent case has its rows in another order, or other names of its classes. An altered plan
differs from the original in one field.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import asdict, fields, is_dataclass, replace
from typing import Any

import numpy as np

from truerisk.contracts import Engine, Method, Request, RunOptions, Streams, Terms
from truerisk.core.family import Family
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.core.plain_values import to_json_value
from truerisk.data.data import Data
from truerisk.data.rows import digest
from truerisk.engines.generic import Generic
from truerisk.estimation.run import blank_estimate
from truerisk.losses.loss import Loss
from truerisk.losses.row_losses import Squared, ZeroOne
from truerisk.plan.answers import Answers
from truerisk.plan.blocks import Blocks
from truerisk.plan.extras.counted import ClassCounts
from truerisk.plan.extras.flips import Flips
from truerisk.plan.extras.model_facts import get_degrees_of_freedom, get_linear_rules
from truerisk.plan.plan import Plan
from truerisk.results.evaluation import Evaluation, Tested
from truerisk.results.results import RiskEstimate, to_estimate
from truerisk.selection.rules import Minimum
from truerisk.testing.toy_learners import (
    NearestMean,
    PerfectClassifier,
    PerfectRegressor,
    SortedBagging,
)


@frozen(eq=False)
class Case:
    """Test case for a method: a learner with its candidates, a data set and a loss.

    Parameters
    ----------
    family : Family
        The learner and its candidate settings.
    data : Data
        The rows.
    loss : Loss
        The loss.

    See Also
    --------
    truerisk.testing.check_method : Check a method on a case.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.naive_bayes import GaussianNB
    >>> import truerisk as tr
    >>> from truerisk.extend import Data, Family
    >>> data = Data.check(np.arange(20.0)[:, None], [0, 1] * 10, task="classification")
    >>> case = tr.testing.Case(Family.from_grid(GaussianNB()), data, tr.losses.ZeroOne())
    >>> case.loss.name
    'zero-one'
    """

    family: Family
    data: Data
    loss: Loss


def two_class_case(n_rows: int = 40) -> Case:
    """Return a case with two overlapping classes of equal size, two candidates and zero-one loss.

    The cells of X are multiples of 2^-20. So sums are exact in any order, and ties do not occur.
    """
    X, y = _draw_grid_rows(n_rows), np.arange(n_rows) % 2
    data = Data.check(X + y[:, None], y, task="classification")
    return Case(Family.from_grid(NearestMean(), {"rest": [0.0, 1.0]}), data, ZeroOne())


def noisy_line_case(n_rows: int = 40) -> Case:
    """Return a case with a noisy linear target, two ridge penalties and squared loss."""
    from sklearn.linear_model import Ridge

    X = _draw_grid_rows(n_rows)
    y = X[:, 0] + np.random.default_rng(2).integers(2**20, size=n_rows) / 2**20
    data = Data.check(X, y, task="regression")
    return Case(Family.from_grid(Ridge(), {"alpha": [0.1, 10.0]}), data, Squared())


def bagged_two_class_case(n_rows: int = 40) -> Case:
    """Return the case of `two_class_case` with bagged nearest-mean classifiers.

    Bagging leaves rows out of bag, which methods for out-of-bag predictions need.
    """
    bagged_learner = SortedBagging(NearestMean(), n_estimators=40, random_state=0)
    family = Family.from_grid(bagged_learner, {"estimator__rest": [0.0, 1.0]})
    return replace(two_class_case(n_rows), family=family)


def wrap_in_bagging(case: Case) -> Case:
    """Return the case with its learner wrapped in bagging."""
    from sklearn.ensemble import BaggingClassifier, BaggingRegressor

    is_classification = case.family.task == "classification"
    bagging_class = BaggingClassifier if is_classification else BaggingRegressor
    bagging_grid = [
        {
            f"estimator__{parameter}": [setting_value]
            for parameter, setting_value in candidate.items()
        }
        for candidate in case.family.candidates
    ]
    bagged_learner = bagging_class(case.family.estimator, n_estimators=40, random_state=0)
    return replace(case, family=Family.from_grid(bagged_learner, bagging_grid))


def error_free_cases(similar_data: Data | None = None) -> list[Case]:
    """Return two cases whose learners predict without error: classification and regression.

    They have the number of rows and the spatial blocks of `similar_data`, if it is given.
    """
    n_rows, spatial_blocks = (
        (40, None) if similar_data is None else (similar_data.n_rows, similar_data.block)
    )
    X, y = _draw_grid_rows(n_rows), np.arange(n_rows) % 2
    classification_data = Data.check(
        np.column_stack([y, X]), y, task="classification", block=spatial_blocks
    )
    regression_data = Data.check(X, X[:, 0], task="regression", block=spatial_blocks)
    return [
        Case(
            Family.from_grid(PerfectClassifier(), {"labels": [(0, 1), (0, 1)]}),
            classification_data,
            ZeroOne(),
        ),
        Case(Family.from_grid(PerfectRegressor()), regression_data, Squared()),
    ]


def _draw_grid_rows(n_rows: int) -> np.ndarray:
    rng = np.random.default_rng(1)
    return rng.integers(2**22, size=(n_rows, 2)) / 2**20


def evaluate(
    method: Method,
    case: Case,
    *,
    seed: int = 0,
    plan: Plan | None = None,
    executor: Any = None,
    engine: Engine | None = None,
) -> Evaluation:
    """Evaluate a method on a case: draw its plan, predict for the plan, and estimate the risks.

    A given `plan` is used instead of a drawn one. The default engine is the generic one, which
    refits every candidate in every fold.
    """
    engine = engine or Generic()
    loss = method.loss_of(case.data, case.loss, requested=False)
    with suppressed_warnings():
        method.check(case.data, loss)
        if plan is None:
            plan = method.plan(case.data, Streams(seed))

        def ask(
            plan: Plan,
            only: np.ndarray | None = None,
            *,
            extras: bool = True,
            requested: np.ndarray | None = None,
            number: int | None = None,
        ) -> Answers:
            request, run_options = (
                Request.from_plan(loss, plan),
                RunOptions(executor, seed, only, is_needed=requested),
            )
            return engine.run(case.family, case.data, plan, request, run_options)

        estimation_terms = Terms(0.95, Minimum(), len(case.family))
        return method.evaluate(ask, case.data, loss, plan, estimation_terms)


class RecordingEngine(Engine):
    """Generic engine that stores the predictions it returns, with a copy of their bytes."""

    name = "recorder"

    def __init__(self) -> None:
        self.recorded_answers: list[tuple[Answers, bytes]] = []

    @override
    def refuse(self, family: Family, data: Data, plan: Plan, request: Request) -> str | None:
        return None

    @override
    def run(
        self, family: Family, data: Data, plan: Plan, request: Request, run: RunOptions
    ) -> Answers:
        answers = Generic().run(family, data, plan, request, run)
        self.recorded_answers.append((answers, serialise_answers(answers)))
        return answers


def serialise_answers(engine_answers: Answers) -> bytes:
    """Serialise all predictions and further outputs of an engine as bytes."""
    out_of_bag_counts, degrees_of_freedom = (
        ClassCounts.from_holder(engine_answers),
        get_degrees_of_freedom(engine_answers),
    )
    extra_bytes = [] if out_of_bag_counts is None else [out_of_bag_counts.values.tobytes()]
    extra_bytes += [] if degrees_of_freedom is None else [degrees_of_freedom.tobytes()]
    for linear_rule in get_linear_rules(engine_answers) or ():
        extra_bytes += [linear_rule.coefficients.tobytes(), linear_rule.intercepts.tobytes()]
        extra_bytes += [b"" if linear_rule.rows is None else digest(linear_rule.rows).encode()]
    return b"".join(
        [engine_answers.values.tobytes(), engine_answers.answered.tobytes(), *extra_bytes]
    )


@contextmanager
def suppressed_warnings() -> Iterator[None]:
    """Suppress warnings, since warnings of models and about small data sets are not under test."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def all_estimates(evaluation: Evaluation) -> list[Tested]:
    """Return the estimates of all candidates, then that of the tuning procedure if there is one."""
    procedure = evaluation.procedure
    return [*evaluation.tested, *([] if procedure is None else [procedure])]


def comparable_contents(evaluation: Evaluation) -> dict[str, Any]:
    """Return the results of an evaluation as comparable plain values, without computing times."""
    return {
        "plan": evaluation.plan.fingerprint,
        "tested": [to_json_value(vars(risk)) for risk in all_estimates(evaluation)],
        "units": [to_json_value(asdict(outer_unit)) for outer_unit in evaluation.units],
        "n_fits": evaluation.n_fits,
    }


def make_risk_estimates(method: Method, case: Case, evaluation: Evaluation) -> list[RiskEstimate]:
    """Return the risk estimates of all candidates as the `RiskEstimate` objects that users get."""
    provenance = blank_estimate(
        case.data,
        case.loss,
        method=method.name,
        target=method.target,
        bias=method.bias,
        n_fits=evaluation.n_fits,
        seconds=0.0,
        engine="generic",
        seed=0,
        plan_fingerprint=evaluation.plan.fingerprint,
    )
    return [to_estimate(risk, provenance, {}) for risk in all_estimates(evaluation)]


def permuted_data(data: Data, permutation: np.ndarray) -> Data:
    """Return the data with permuted rows: row j is row `permutation[j]` of the original."""
    return replace(data.subset(permutation), row_ids=data.row_ids)


def permuted_plan(plan: Plan, permutation: np.ndarray) -> Plan:
    """Return the plan for permuted rows that is equivalent to `plan` for the original rows."""
    # The new position of each original row is found by inverting the permutation.
    new_positions = np.argsort(permutation).astype(np.int32)
    old_flips = Flips.from_holder(plan)
    new_extra = (
        plan.extra if old_flips is None else replace(old_flips, row=new_positions[old_flips.row])
    )
    permuted_rows = new_positions[plan.blocks.rows]
    block_numbers = np.repeat(np.arange(len(plan.blocks)), plan.blocks.sizes)
    row_order = np.lexsort((permuted_rows, block_numbers))
    permuted_counts = None if plan.blocks.counts is None else plan.blocks.counts[row_order]
    return replace(
        plan,
        blocks=Blocks(permuted_rows[row_order], plan.blocks.offsets, permuted_counts),
        extra=new_extra,
    )


def rename_classes(data: Data, new_names: Any) -> Data:
    """Return the data with renamed classes: class number c, in sorted order, gets `names[c]`."""
    new_classes, new_codes = np.unique(np.asarray(new_names)[data.class_codes], return_inverse=True)
    return replace(
        data, y=new_classes[new_codes], classes=new_classes, codes=new_codes.astype(np.int64)
    )


def recoded_plan(plan: Plan, new_code_of_class: np.ndarray) -> Plan:
    """Return the plan whose replaced labels have code `new_code_of_class[c]` instead of c."""
    label_flips = Flips.from_holder(plan)
    if label_flips is None:
        return plan
    new_flip_codes = np.asarray(new_code_of_class)[label_flips.code].astype(label_flips.code.dtype)
    return replace(plan, extra=replace(label_flips, code=new_flip_codes))


def read_only_data(data: Data) -> Data:
    """Return a copy of the data whose arrays are read-only."""
    return replace(
        data,
        X=_read_only_copy(data.X),
        y=_read_only_copy(data.y),
        classes=_read_only_copy(data.classes),
        codes=_read_only_copy(data.codes),
        groups=_read_only_copy(data.groups),
        sample_weight=_read_only_copy(data.sample_weight),
        time=_read_only_copy(data.time),
        block=_read_only_copy(data.block),
        fit_params={
            parameter_name: _read_only_copy(row_values)
            for parameter_name, row_values in data.fit_params.items()
        },
    )


def _read_only_copy(values: Any) -> Any:
    if not isinstance(values, np.ndarray):
        return values
    values = values.copy()
    values.flags.writeable = False
    return values


def altered_plans(plan: Plan) -> Iterator[tuple[str, Plan]]:
    """Yield copies of the plan, each with one field changed, and a description of the change."""
    yield "the number of rows", replace(plan, n_rows=plan.n_rows + 1)
    yield "the names of parts", replace(plan, parts=(*plan.parts[:-1], "another"))
    # Fields that are no arguments of __init__ are computed from the other fields.
    for plan_field in (dataclass_field for dataclass_field in fields(plan) if dataclass_field.init):
        field_value = getattr(plan, plan_field.name)
        if isinstance(field_value, np.ndarray) and field_value.size:
            yield (
                plan_field.name,
                _replace_field(plan, plan_field.name, _change_last_element(field_value)),
            )
        elif is_dataclass(field_value) and not isinstance(field_value, type):
            for inner_field in fields(field_value):
                field_array = getattr(field_value, inner_field.name)
                if isinstance(field_array, np.ndarray) and field_array.size:
                    changed_value = _replace_field(
                        field_value, inner_field.name, _change_last_element(field_array)
                    )
                    yield (
                        f"{plan_field.name}.{inner_field.name}",
                        _replace_field(plan, plan_field.name, changed_value),
                    )


def _replace_field(instance: Any, field_name: str, new_value: Any) -> Any:
    """Return a copy of a dataclass instance with a new, possibly invalid, value of one field."""
    altered_copy = copy(instance)
    vars(altered_copy)[field_name] = new_value
    vars(altered_copy).pop("fingerprint", None)
    return altered_copy


def _change_last_element(original_array: np.ndarray) -> np.ndarray:
    changed_array = original_array.copy()
    changed_array.flat[-1] += 1
    return changed_array
