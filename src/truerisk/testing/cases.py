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
from truerisk.core.plain_values import to_plain
from truerisk.data.data import Data
from truerisk.data.rows import digest
from truerisk.engines.generic import Generic
from truerisk.estimation.run import blank_estimate
from truerisk.losses.loss import Loss
from truerisk.losses.row_losses import Squared, ZeroOne
from truerisk.plan.answers import Answers
from truerisk.plan.blocks import Blocks
from truerisk.plan.extras.counted import Counts
from truerisk.plan.extras.flips import Flips
from truerisk.plan.extras.model_facts import freedom_of, rules_of
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
    X, y = _grid_rows(n_rows), np.arange(n_rows) % 2
    data = Data.check(X + y[:, None], y, task="classification")
    return Case(Family.from_grid(NearestMean(), {"rest": [0.0, 1.0]}), data, ZeroOne())


def noisy_line_case(n_rows: int = 40) -> Case:
    """Return a case with a noisy linear target, two ridge penalties and squared loss."""
    from sklearn.linear_model import Ridge

    X = _grid_rows(n_rows)
    y = X[:, 0] + np.random.default_rng(2).integers(2**20, size=n_rows) / 2**20
    data = Data.check(X, y, task="regression")
    return Case(Family.from_grid(Ridge(), {"alpha": [0.1, 10.0]}), data, Squared())


def bagged_classes(n_rows: int = 40) -> Case:
    """Return the case of `two_class_case` with bagged nearest-mean classifiers.

    Bagging leaves rows out of bag, which methods for out-of-bag predictions need.
    """
    bags = SortedBagging(NearestMean(), n_estimators=40, random_state=0)
    family = Family.from_grid(bags, {"estimator__rest": [0.0, 1.0]})
    return replace(two_class_case(n_rows), family=family)


def with_bagging(case: Case) -> Case:
    """Return the case with its learner wrapped in bagging."""
    from sklearn.ensemble import BaggingClassifier, BaggingRegressor

    is_classification = case.family.task == "classification"
    bagging_class = BaggingClassifier if is_classification else BaggingRegressor
    grid = [
        {
            f"estimator__{parameter}": [setting_value]
            for parameter, setting_value in candidate.items()
        }
        for candidate in case.family.candidates
    ]
    bags = bagging_class(case.family.estimator, n_estimators=40, random_state=0)
    return replace(case, family=Family.from_grid(bags, grid))


def perfect_cases(similar_data: Data | None = None) -> list[Case]:
    """Return two cases without any error: one for classification and one for regression.

    They have the number of rows and the spatial blocks of `similar_data`, if it is given.
    """
    n_rows, block = (
        (40, None) if similar_data is None else (similar_data.n_rows, similar_data.block)
    )
    X, y = _grid_rows(n_rows), np.arange(n_rows) % 2
    classification_data = Data.check(np.column_stack([y, X]), y, task="classification", block=block)
    regression_data = Data.check(X, X[:, 0], task="regression", block=block)
    return [
        Case(
            Family.from_grid(PerfectClassifier(), {"labels": [(0, 1), (0, 1)]}),
            classification_data,
            ZeroOne(),
        ),
        Case(Family.from_grid(PerfectRegressor()), regression_data, Squared()),
    ]


def _grid_rows(n_rows: int) -> np.ndarray:
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
                RunOptions(executor, seed, only, needed=requested),
            )
            return engine.run(case.family, case.data, plan, request, run_options)

        terms = Terms(0.95, Minimum(), len(case.family))
        return method.evaluate(ask, case.data, loss, plan, terms)


class Recorder(Engine):
    """Generic engine that keeps every `Answers` object, with a copy of its bytes at that time."""

    name = "recorder"

    def __init__(self) -> None:
        self.answered: list[tuple[Answers, bytes]] = []

    @override
    def refuse(self, family: Family, data: Data, plan: Plan, request: Request) -> str | None:
        return None

    @override
    def run(
        self, family: Family, data: Data, plan: Plan, request: Request, run: RunOptions
    ) -> Answers:
        answers = Generic().run(family, data, plan, request, run)
        self.answered.append((answers, bytes_of_answers(answers)))
        return answers


def bytes_of_answers(answers: Answers) -> bytes:
    """Serialise all predictions and further outputs of an engine as bytes."""
    counts, freedom = Counts.from_holder(answers), freedom_of(answers)
    further_outputs = [] if counts is None else [counts.values.tobytes()]
    further_outputs += [] if freedom is None else [freedom.tobytes()]
    for rules in rules_of(answers) or ():
        further_outputs += [rules.coefficients.tobytes(), rules.intercepts.tobytes()]
        further_outputs += [b"" if rules.rows is None else digest(rules.rows).encode()]
    return b"".join([answers.values.tobytes(), answers.answered.tobytes(), *further_outputs])


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


def contents_of(evaluation: Evaluation) -> dict[str, Any]:
    """Return the results of an evaluation as comparable plain values, without computing times."""
    return {
        "plan": evaluation.plan.fingerprint,
        "tested": [to_plain(vars(risk)) for risk in all_estimates(evaluation)],
        "units": [to_plain(asdict(unit)) for unit in evaluation.units],
        "n_fits": evaluation.n_fits,
    }


def estimates(method: Method, case: Case, evaluation: Evaluation) -> list[RiskEstimate]:
    """Return the risk estimates of all candidates in the form that a user would get."""
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
    """Return the data with permuted rows: row j is row `order[j]` of the original."""
    return replace(data.subset(permutation), row_ids=data.row_ids)


def permuted_plan(plan: Plan, permutation: np.ndarray) -> Plan:
    """Return the plan for permuted rows that is equivalent to `plan` for the original rows."""
    # The new position of each original row is found by inverting the permutation.
    new_positions = np.argsort(permutation).astype(np.int32)
    old_labels = Flips.from_holder(plan)
    replaced_labels = (
        plan.extra if old_labels is None else replace(old_labels, row=new_positions[old_labels.row])
    )
    rows = new_positions[plan.blocks.rows]
    block_numbers = np.repeat(np.arange(len(plan.blocks)), plan.blocks.sizes)
    row_order = np.lexsort((rows, block_numbers))
    counts = None if plan.blocks.counts is None else plan.blocks.counts[row_order]
    return replace(
        plan, blocks=Blocks(rows[row_order], plan.blocks.offsets, counts), extra=replaced_labels
    )


def with_renamed_classes(data: Data, names: Any) -> Data:
    """Return the data with renamed classes: class number c, in sorted order, gets `names[c]`."""
    classes, codes = np.unique(np.asarray(names)[data.class_codes], return_inverse=True)
    return replace(data, y=classes[codes], classes=classes, codes=codes.astype(np.int64))


def recoded_plan(plan: Plan, codes: np.ndarray) -> Plan:
    """Return the plan with class code `codes[c]` instead of c wherever it replaces labels."""
    replaced_labels = Flips.from_holder(plan)
    if replaced_labels is None:
        return plan
    new_codes = np.asarray(codes)[replaced_labels.code].astype(replaced_labels.code.dtype)
    return replace(plan, extra=replace(replaced_labels, code=new_codes))


def frozen_data(data: Data) -> Data:
    """Return a copy of the data whose arrays are read-only."""
    return replace(
        data,
        X=_read_only(data.X),
        y=_read_only(data.y),
        classes=_read_only(data.classes),
        codes=_read_only(data.codes),
        groups=_read_only(data.groups),
        sample_weight=_read_only(data.sample_weight),
        time=_read_only(data.time),
        block=_read_only(data.block),
        fit_params={name: _read_only(fit_param) for name, fit_param in data.fit_params.items()},
    )


def _read_only(array: Any) -> Any:
    if not isinstance(array, np.ndarray):
        return array
    array = array.copy()
    array.flags.writeable = False
    return array


def altered_plans(plan: Plan) -> Iterator[tuple[str, Plan]]:
    """Yield copies of the plan, each with one field changed, and a description of the change."""
    yield "the number of rows", replace(plan, n_rows=plan.n_rows + 1)
    yield "the names of parts", replace(plan, parts=(*plan.parts[:-1], "another"))
    # Fields that are no arguments of __init__ are computed from the other fields.
    for field in (any_field for any_field in fields(plan) if any_field.init):
        field_value = getattr(plan, field.name)
        if isinstance(field_value, np.ndarray) and field_value.size:
            yield field.name, _replace_field(plan, field.name, _changed(field_value))
        elif is_dataclass(field_value) and not isinstance(field_value, type):
            for inner_field in fields(field_value):
                array = getattr(field_value, inner_field.name)
                if isinstance(array, np.ndarray) and array.size:
                    changed = _replace_field(field_value, inner_field.name, _changed(array))
                    yield (
                        f"{field.name}.{inner_field.name}",
                        _replace_field(plan, field.name, changed),
                    )


def _replace_field(holder: Any, name: str, new_value: Any) -> Any:
    """Return a copy of an object with another value of one field, even if the value is invalid."""
    changed_copy = copy(holder)
    vars(changed_copy)[name] = new_value
    vars(changed_copy).pop("fingerprint", None)
    return changed_copy


def _changed(array: np.ndarray) -> np.ndarray:
    changed_array = array.copy()
    changed_array.flat[-1] += 1
    return changed_array
