"""The checks that any engine must pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from truerisk.contracts import Engine
from truerisk.core.errors import Refusal
from truerisk.core.family import Family
from truerisk.data.data import Data
from truerisk.engines.generic import Generic
from truerisk.plan.answers import Answers
from truerisk.plan.extras.model_facts import ModelFacts, freedom_of, rules_of
from truerisk.plan.plan import Plan
from truerisk.testing import strategies
from truerisk.testing.brute_force import freedom_by_brute_force, rules_by_brute_force
from truerisk.testing.cases import frozen_data
from truerisk.testing.comparing import (
    Check,
    Draw,
    Effort,
    check_of,
    raise_failures,
    require,
    require_contract,
    require_same,
    require_same_rules,
)
from truerisk.testing.situations import (
    run_on,
    situations,
    usual_families,
    weight_of,
    willing_on,
)

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


def engine_checks(
    engine: Engine, *families: Family, examples: int = 25, shrink: bool = True
) -> list[Check]:
    """Return the checks of an engine for every family, one by one.

    Parameters
    ----------
    engine : Engine
        The engine.
    *families : Family
        The learners on which it is run. By default a nearest-mean rule, a ridge regression and a
        random rule. Name those that the engine is made for: what it refuses is not checked.
    examples : int, default=25
        The number of data sets and plans that hypothesis draws for a check that draws.
    shrink : bool, default=True
        If True, a failing example is made small before it is shown, which takes seconds.

    Returns
    -------
    list of Check
        The checks, each callable without arguments; `check.fact` is the fact that it establishes.

    See Also
    --------
    truerisk.testing.check_engine : Run all checks at once.

    Examples
    --------
    >>> from truerisk.engines import Generic
    >>> from truerisk.testing import engine_checks
    >>> print(engine_checks(Generic())[0])
    answers_something
    """
    given, effort = families or usual_families(), Effort(examples, shrink)
    checks = [check_of(check_answers_something, engine, given)]
    for family in given:
        checks += _checks_on_draws(engine, family, effort)
        checks += [check_of(f, engine, family, about=family.name) for f in PLAIN]
    return checks


def check_engine(
    engine: Engine, *families: Family, examples: int = 25, shrink: bool = True
) -> None:
    """Run all checks of an engine, and raise one error that names each failed check.

    Parameters
    ----------
    engine : Engine
        The engine.
    *families : Family
        The learners on which it is run. By default a nearest-mean rule, a ridge regression and a
        random rule.
    examples : int, default=25
        The number of data sets and plans that hypothesis draws for a check that draws.
    shrink : bool, default=True
        If True, a failing example is made small before it is shown, which takes seconds.

    Raises
    ------
    NotConforming
        If a check fails.

    See Also
    --------
    truerisk.testing.engine_checks : The same checks one by one, for `pytest.mark.parametrize`.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.linear_model import Ridge
    >>> family = tr.extend.Family.from_grid(Ridge(), {"alpha": [0.1, 1.0]})
    >>> tr.testing.check_engine(tr.engines.LeastSquares(), family, examples=2)
    """
    checks = engine_checks(engine, *families, examples=examples, shrink=shrink)
    raise_failures(f"engine '{engine.name}'", checks)


def check_answers_something(engine: Engine, families: Sequence[Family]) -> None:
    """Check that it answers folds, leave-one-out, hold-out or apparent, for some family."""
    answers = any(willing_on(engine, family) for family in families)
    require(answers, "it refuses all that the checks ask: name the families it is made for.")


# ---------------------------------------------------------------- on what hypothesis draws


def _inside(data: Data) -> SearchStrategy[Plan]:
    n = data.n_rows
    return strategies.hypothesis().strategies.one_of(strategies.nested(n), strategies.pairs(n))


def _folds(data: Data) -> SearchStrategy[Plan]:
    return strategies.folds(data.n_rows)


ONE_BY_ONE: Mapping[str, tuple[str, Callable[[Family, Effort], Draw | None]]] = {
    "folds": (
        "On K-fold and leave-one-out it answers what fitting one by one answers.",
        lambda family, effort: Draw(family, _folds, effort),
    ),
    "subsets": (
        "On any training rows, with several questions per fit, it equals fitting one by one.",
        lambda family, effort: Draw(family, lambda d: strategies.subsets(d.n_rows), effort),
    ),
    "nested_parts": (
        "On folds inside the training rows of folds, and in pairs, it equals fitting one by one.",
        lambda family, effort: Draw(family, _inside, effort),
    ),
    "copies": (
        "Rows that a training set holds several times count several times.",
        lambda family, effort: Draw(family, lambda d: strategies.copies(d.n_rows), effort),
    ),
    "labels": (
        "A row that a fit is shown with another class is learned with that class.",
        lambda family, effort: (
            Draw(family, strategies.replaced_labels, effort)
            if family.task == "classification"
            else None
        ),
    ),
    "ties": (
        "Equal cells and equal rows, also on both sides of a split, change nothing.",
        lambda family, effort: Draw(family, _folds, effort, ties=True),
    ),
    "weights": (
        "Sample weights reach every fit with their rows.",
        lambda family, effort: (
            None if weight_of(family) is None else Draw(family, _folds, effort, weighted=True)
        ),
    ),
}
"""The kind of training sets that are compared with single fits, and what equality proves."""


def _checks_on_draws(engine: Engine, family: Family, effort: Effort) -> Iterator[Check]:
    """Yield comparisons on drawn plans, with fitting one by one and with the generic engine."""
    for name, (fact, drawn) in ONE_BY_ONE.items():
        run = partial(_against_brute_force, drawn, engine, family, effort)
        yield Check(f"equals_brute_force_on_{name}[{family.name}]", fact, run)
    fact = "On any plan it says what the generic engine says, or refuses."
    of_all = Draw(family, strategies.plans, effort, ties=True)
    run = partial(of_all.against, Generic(error="warn"), engine)
    yield Check(f"equals_the_generic_engine[{family.name}]", fact, run)


def _against_brute_force(
    drawn: Callable[[Family, Effort], Draw | None], engine: Engine, family: Family, effort: Effort
) -> None:
    draw = drawn(family, effort)
    if draw is not None:
        draw.against_brute_force(engine)


# ---------------------------------------------------------------- on plain situations


def check_answers_as_the_contract_says(engine: Engine, family: Family) -> None:
    """Check that shapes, types, numbers of fits and seconds are those of the contract."""
    for s in willing_on(engine, family):
        require_contract(run_on(engine, s), engine, s, rows=len(s.family))


def check_only_is_honoured(engine: Engine, family: Family) -> None:
    """Check that a request for one candidate per fit gives one row: that candidate's answers."""
    for s in willing_on(engine, family):
        chosen = np.arange(s.plan.n_fits) % len(family)
        every, one = run_on(engine, s), run_on(engine, s, only=chosen)
        require_contract(one, engine, s, rows=1)
        for q in range(s.plan.n_questions):
            candidate = chosen[s.plan.fit[q]]
            same = np.allclose(
                every.for_question(q)[candidate], one.for_question(q)[0], rtol=1e-9, equal_nan=True
            )
            require(same, f"question {q} was not answered by candidate {candidate}.")


def check_unrequested_answers_are_left_out(engine: Engine, family: Family) -> None:
    """Check that an engine that leaves fits out gives the same answers for the others."""
    if not engine.leaves_out:
        return
    for s in willing_on(engine, family):
        requested = np.zeros((len(family), s.plan.n_fits), dtype=bool)
        requested.flat[::2] = True
        every, some = run_on(engine, s), run_on(engine, s, requested=requested)
        require(some.n_fits == requested.sum(), f"n_fits is {some.n_fits}, not {requested.sum()}.")
        require(np.array_equal(some.made, requested), "it does not say which fits it made.")
        require_same(every.part(requested), some, "a part and the whole")


def check_same_answers_twice(engine: Engine, family: Family) -> None:
    """Check that the same seed gives the same answers."""
    for s in willing_on(engine, family):
        require_same(run_on(engine, s), run_on(engine, s), "two runs")


def check_same_answers_on_any_executor(engine: Engine, family: Family) -> None:
    """Check that this process, threads and worker processes give the same answers."""
    for s in willing_on(engine, family)[:1]:
        here = run_on(engine, s)
        with ThreadPoolExecutor(2) as threads:
            require_same(here, run_on(engine, s, executor=threads), "this process and threads")
        require_same(here, run_on(engine, s, executor=2), "this process and two workers")


def check_order_of_candidates_does_not_matter(engine: Engine, family: Family) -> None:
    """Check that candidates in another order get the same answers, even random ones."""
    other = replace(family, candidates=family.candidates[::-1])
    for s in willing_on(engine, family):
        first, second = run_on(engine, s), run_on(engine, replace(s, family=other))
        back = replace(second, values=second.values[::-1], answered=second.answered[::-1])
        require_same(first, back, "candidates in this and in reversed order")


def _models_compared(
    engine: Engine, family: Family, what: str, by_brute_force: Callable[..., Any]
) -> Iterator[tuple[Any, Answers]]:
    """Yield what the models say on every other question, and the answers of an engine."""
    for s in willing_on(engine, family):
        # No other questions are requested.
        requested: Any = np.arange(0, s.plan.n_questions, 2, dtype=np.int32)
        s = replace(s, plan=replace(s.plan, extra=ModelFacts(**{what: requested})))
        refused = engine.lacks(s.plan) or engine.refuse(s.family, s.data, s.plan, s.request)
        if refused is None:
            try:
                expected = by_brute_force(s.family, s.data, s.plan, seed=3)
            except Refusal:
                continue  # There is no formula, or it is not a linear rule.
            yield expected, run_on(engine, s)


def check_degrees_of_freedom_are_the_models_own(engine: Engine, family: Family) -> None:
    """Check that degrees of freedom, if supported, are those of the fitted models."""
    for expected, answers in _models_compared(engine, family, "freedom", freedom_by_brute_force):
        found = freedom_of(answers)
        same = found is not None and np.allclose(found, expected, rtol=1e-8, equal_nan=True)
        require(same, f"degrees of freedom are {found} and not {expected}.")


def check_linear_rules_are_the_models_own(engine: Engine, family: Family) -> None:
    """Check that linear rules, if supported, are those of the fitted models."""
    for expected, answers in _models_compared(engine, family, "rules", rules_by_brute_force):
        require_same_rules(expected, rules_of(answers), "the models and the engine")


def check_X_and_y_stay_as_they_were(engine: Engine, family: Family) -> None:  # noqa: N802
    """Check that neither X nor y nor the class codes are modified."""
    for s in willing_on(engine, family):
        before = frozen_data(s.data)
        run_on(engine, s)
        for name in ("X", "y", "classes", "codes"):
            old, new = getattr(before, name), getattr(s.data, name)
            require(old is None or old.tobytes() == new.tobytes(), f"{name} was written to.")


def check_takes_read_only_arrays(engine: Engine, family: Family) -> None:
    """Check that data in read-only memory get the same answers."""
    for s in willing_on(engine, family):
        locked = replace(s, data=frozen_data(s.data))
        require_same(run_on(engine, s), run_on(engine, locked), "read-only data and others")


def check_refusals_are_sentences(engine: Engine, family: Family) -> None:
    """Check that a refusal is None or a sentence, with its full stop, on one line."""
    for s in situations(family):
        reason: Any = engine.refuse(s.family, s.data, s.plan, s.request)
        if reason is not None:
            sentence = isinstance(reason, str) and len(reason.split()) > 1 and "\n" not in reason
            require(sentence and reason.endswith("."), f"{reason!r} is no sentence.")


def check_refusals_do_not_waver(engine: Engine, family: Family) -> None:
    """Check that repeated refusals are for the same reason."""
    for s in situations(family):
        reasons = {engine.refuse(s.family, s.data, s.plan, s.request) for _ in range(3)}
        require(len(reasons) == 1, f"it said {sorted(map(str, reasons))}.")


PLAIN: tuple[Callable[[Engine, Family], None], ...] = (
    check_answers_as_the_contract_says,
    check_only_is_honoured,
    check_unrequested_answers_are_left_out,
    check_same_answers_twice,
    check_same_answers_on_any_executor,
    check_order_of_candidates_does_not_matter,
    check_degrees_of_freedom_are_the_models_own,
    check_linear_rules_are_the_models_own,
    check_X_and_y_stay_as_they_were,
    check_takes_read_only_arrays,
    check_refusals_are_sentences,
    check_refusals_do_not_waver,
)
