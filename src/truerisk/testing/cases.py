"""Data and learners on which methods are checked, and helpers to run and compare them.

An equivalent problem has its rows in another order, or its classes under other names. A plan is
altered by changing one thing.
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
from truerisk.core.plain_values import plain
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
    """Case on which a method is checked: a family, data and a loss.

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


def two_classes(n_rows: int = 40) -> Case:
    """Return two overlapping classes of equal size, two settings, zero-one loss.

    Cells are multiples of 2^-20, so that sums are exact in any order and ties do not occur.
    """
    X, y = _grid_rows(n_rows), np.arange(n_rows) % 2
    data = Data.check(X + y[:, None], y, task="classification")
    return Case(Family.from_grid(NearestMean(), {"rest": [0.0, 1.0]}), data, ZeroOne())


def numbers(n_rows: int = 40) -> Case:
    """Return a noisy line in two features, two penalties, squared loss."""
    from sklearn.linear_model import Ridge

    X = _grid_rows(n_rows)
    y = X[:, 0] + np.random.default_rng(2).integers(2**20, size=n_rows) / 2**20
    data = Data.check(X, y, task="regression")
    return Case(Family.from_grid(Ridge(), {"alpha": [0.1, 10.0]}), data, Squared())


def bagged_classes(n_rows: int = 40) -> Case:
    """Return the same rows and settings for bags of nearest-mean rules.

    Rows can be out of bag.
    """
    bags = SortedBagging(NearestMean(), n_estimators=40, random_state=0)
    family = Family.from_grid(bags, {"estimator__rest": [0.0, 1.0]})
    return replace(two_classes(n_rows), family=family)


def bagged(case: Case) -> Case:
    """Return the case with bags of its learner."""
    from sklearn.ensemble import BaggingClassifier, BaggingRegressor

    of_classes = case.family.task == "classification"
    kind = BaggingClassifier if of_classes else BaggingRegressor
    grid = [{f"estimator__{k}": [v] for k, v in c.items()} for c in case.family.candidates]
    bags = kind(case.family.estimator, n_estimators=40, random_state=0)
    return replace(case, family=Family.from_grid(bags, grid))


def perfect_cases(like: Data | None = None) -> list[Case]:
    """Return a rule without errors, for classes and for numbers, at the places of other data."""
    n_rows, block = (40, None) if like is None else (like.n_rows, like.block)
    X, y = _grid_rows(n_rows), np.arange(n_rows) % 2
    classes = Data.check(np.column_stack([y, X]), y, task="classification", block=block)
    numbers = Data.check(X, X[:, 0], task="regression", block=block)
    return [
        Case(
            Family.from_grid(PerfectClassifier(), {"labels": [(0, 1), (0, 1)]}), classes, ZeroOne()
        ),
        Case(Family.from_grid(PerfectRegressor()), numbers, Squared()),
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
    """Draw the plan (or use a given one), answer it (by the generic engine), and reduce it."""
    engine = engine or Generic()
    loss = method.loss_of(case.data, case.loss, requested=False)
    with quiet():
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
            request, run = (
                Request.from_plan(loss, plan),
                RunOptions(executor, seed, only, needed=requested),
            )
            return engine.run(case.family, case.data, plan, request, run)

        terms = Terms(0.95, Minimum(), len(case.family))
        return method.evaluate(ask, case.data, loss, plan, terms)


class Recorder(Engine):
    """The generic engine, which stores the original content of its answers."""

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
        self.answered.append((answers, content_of(answers)))
        return answers


def content_of(answers: Answers) -> bytes:
    """Return every byte of the answers."""
    counts, freedom = Counts.from_holder(answers), freedom_of(answers)
    more = [] if counts is None else [counts.values.tobytes()]
    more += [] if freedom is None else [freedom.tobytes()]
    for rules in rules_of(answers) or ():
        more += [rules.coefficients.tobytes(), rules.intercepts.tobytes()]
        more += [b"" if rules.rows is None else digest(rules.rows).encode()]
    return b"".join([answers.values.tobytes(), answers.answered.tobytes(), *more])


@contextmanager
def quiet() -> Iterator[None]:
    """Suppress warnings, because those of models and of small data are not checked."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def all_tested(evaluation: Evaluation) -> list[Tested]:
    """Return the estimate of every candidate, and that of the procedure if there is one."""
    procedure = evaluation.procedure
    return [*evaluation.tested, *([] if procedure is None else [procedure])]


def contents_of(evaluation: Evaluation) -> dict[str, Any]:
    """Return the content of an evaluation without times, in values that can be compared."""
    return {
        "plan": evaluation.plan.fingerprint,
        "tested": [plain(vars(tested)) for tested in all_tested(evaluation)],
        "units": [plain(asdict(unit)) for unit in evaluation.units],
        "n_fits": evaluation.n_fits,
    }


def estimates(method: Method, case: Case, evaluation: Evaluation) -> list[RiskEstimate]:
    """Return the results that a user would get."""
    common = blank_estimate(
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
    return [to_estimate(tested, common, {}) for tested in all_tested(evaluation)]


def permuted_data(data: Data, order: np.ndarray) -> Data:
    """Return data whose row j is row `order[j]` of the original."""
    return replace(data.subset(order), row_ids=data.row_ids)


def permuted_plan(plan: Plan, order: np.ndarray) -> Plan:
    """Return the plan for permuted data that is equivalent to `plan` for the original."""
    place = np.argsort(order).astype(np.int32)  # new position of each original row
    flips = Flips.from_holder(plan)
    extra = plan.extra if flips is None else replace(flips, row=place[flips.row])
    rows = place[plan.blocks.rows]
    block = np.repeat(np.arange(len(plan.blocks)), plan.blocks.sizes)
    ascending = np.lexsort((rows, block))
    counts = None if plan.blocks.counts is None else plan.blocks.counts[ascending]
    return replace(plan, blocks=Blocks(rows[ascending], plan.blocks.offsets, counts), extra=extra)


def renamed(data: Data, names: Any) -> Data:
    """Return data in which class number c (in sorted order) is called `names[c]`."""
    classes, codes = np.unique(np.asarray(names)[data.class_codes], return_inverse=True)
    return replace(data, y=classes[codes], classes=classes, codes=codes.astype(np.int64))


def recoded_plan(plan: Plan, codes: np.ndarray) -> Plan:
    """Return the plan with replaced labels `codes[c]` instead of c."""
    flips = Flips.from_holder(plan)
    if flips is None:
        return plan
    code = np.asarray(codes)[flips.code].astype(flips.code.dtype)
    return replace(plan, extra=replace(flips, code=code))


def frozen_data(data: Data) -> Data:
    """Return the same data in read-only arrays."""
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
        fit_params={name: _read_only(value) for name, value in data.fit_params.items()},
    )


def _read_only(array: Any) -> Any:
    if not isinstance(array, np.ndarray):
        return array
    array = array.copy()
    array.flags.writeable = False
    return array


def altered(plan: Plan) -> Iterator[tuple[str, Plan]]:
    """Yield the plan with one thing changed, and a description of the change."""
    yield "the number of rows", replace(plan, n_rows=plan.n_rows + 1)
    yield "the names of parts", replace(plan, parts=(*plan.parts[:-1], "another"))
    # The other fields are derived from these.
    for each in (one for one in fields(plan) if one.init):
        held = getattr(plan, each.name)
        if isinstance(held, np.ndarray) and held.size:
            yield each.name, _replace_field(plan, each.name, _changed(held))
        elif is_dataclass(held) and not isinstance(held, type):
            for inside in fields(held):
                array = getattr(held, inside.name)
                if isinstance(array, np.ndarray) and array.size:
                    changed = _replace_field(held, inside.name, _changed(array))
                    yield f"{each.name}.{inside.name}", _replace_field(plan, each.name, changed)


def _replace_field(holder: Any, name: str, value: Any) -> Any:
    """Return a copy with another value of a field, even an invalid one."""
    changed = copy(holder)
    vars(changed)[name] = value
    vars(changed).pop("fingerprint", None)
    return changed


def _changed(array: np.ndarray) -> np.ndarray:
    changed = array.copy()
    changed.flat[-1] += 1
    return changed
