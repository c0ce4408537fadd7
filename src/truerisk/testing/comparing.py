"""Comparison of an engine's answers with those of another one, and with the contract."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import field
from functools import partial
from typing import Any

import numpy as np

from truerisk.contracts import Engine, Request, RunOptions
from truerisk.core.errors import FitFailed, TrueRiskError
from truerisk.core.family import Family
from truerisk.core.frozen import frozen
from truerisk.data.data import Data
from truerisk.plan.answers import Answers, code_type
from truerisk.plan.extras.linear_rules import LinearRules
from truerisk.plan.extras.model_facts import freedom_of, rules_of
from truerisk.plan.plan import Plan
from truerisk.testing import strategies
from truerisk.testing.brute_force import brute_force
from truerisk.testing.cases import quiet
from truerisk.testing.situations import Situation, requests, weight_of, widths_of

Rules = tuple[LinearRules, ...] | None

SEED = 3
NEAR: dict[str, Any] = {"rtol": 1e-9, "atol": 1e-12, "equal_nan": True}


@frozen
class Effort:
    """The number of data sets and plans that are drawn, and whether failing ones are minimised."""

    examples: int = 25
    shrink: bool = True


@frozen
class Draw:
    """Strategies of hypothesis for one check: data for a family, a plan for the data, a request."""

    family: Family
    plans: Callable[[Data], Any]
    effort: Effort
    ties: bool = False
    weighted: bool = False

    def against_brute_force(self, engine: Engine) -> None:
        """Compare with fitting one by one."""
        self._compare_draws(engine, partial(_like_brute, engine, self.family))

    def against(self, reference: Engine, engine: Engine) -> None:
        """Compare two engines."""
        self._compare_draws(engine, partial(_alike, reference, engine, self.family))

    def _compare_draws(
        self, engine: Engine, compare: Callable[[Data, Plan, Request], None]
    ) -> None:
        """Draw situations that the engine does not refuse, and compare on them."""
        library = strategies.hypothesis()
        Phase = library.Phase
        weight = weight_of(self.family) if self.weighted else None
        n_columns, n_classes = widths_of(self.family)
        data_sets = strategies.data_sets(
            self.family.task,
            ties=self.ties,
            n_columns=n_columns,
            n_classes=n_classes,
            weight=weight,
        )

        def drawn(drawer: Any) -> None:
            data = drawer.draw(data_sets)
            plan = drawer.draw(self.plans(data))
            request = drawer.draw(library.strategies.sampled_from(requests(self.family, data)))
            with quiet():
                if (engine.lacks(plan) or engine.refuse(self.family, data, plan, request)) is None:
                    compare(data, plan, request)

        settings = library.settings(
            max_examples=self.effort.examples,
            phases=(Phase.generate, Phase.shrink) if self.effort.shrink else (Phase.generate,),
            deadline=None,
            database=None,
            derandomize=True,
            suppress_health_check=list(library.HealthCheck),
        )
        settings(library.given(library.strategies.data())(drawn))()


def _like_brute(engine: Engine, family: Family, data: Data, plan: Plan, request: Request) -> None:
    expected = brute_force(family, data, plan, request, SEED)
    answers = _failing_or(engine, family, data, plan, request)
    if answers is None:
        failed = any(one is None for row in expected for one in row)
        require(failed, "it says that a fit failed, and none does.")
        return
    for c, row in enumerate(expected):
        for q, one in enumerate(row):
            answered = bool(answers.answered[c, q])
            require(answered == (one is not None), f"answered[{c}, {q}] is {answered}, wrongly.")
            if one is not None:
                found = answers.for_question(q)[c]
                if np.shape(found) != one.shape or not np.allclose(found, one, **NEAR):
                    require(False, f"candidate {c}, question {q}: {found} and not {one}.")


def _alike(
    reference: Engine, engine: Engine, family: Family, data: Data, plan: Plan, request: Request
) -> None:
    expected = _failing_or(reference, family, data, plan, request)
    found = _failing_or(engine, family, data, plan, request)
    if found is None:
        failed = expected is None or not expected.answered.all()
        require(failed, "it says that a fit failed, and none does.")
        return
    require(expected is not None, "a fit fails, and it answers.")
    if expected is not None:
        require_same(expected, found, f"engine '{reference.name}' and this one")


def _failing_or(
    engine: Engine, family: Family, data: Data, plan: Plan, request: Request
) -> Answers | None:
    """Return the answers, or None if a fit failed."""
    try:
        return engine.run(family, data, plan, request, RunOptions(seed=SEED))
    except FitFailed:
        return None


def require_same(first: Answers, second: Answers, between: str) -> None:
    """Require equal answers: labels exactly, numbers to nine digits."""
    require(first.values.shape == second.values.shape, f"{between} answer in other shapes.")
    require(np.array_equal(first.answered, second.answered), f"{between} answer other questions.")
    answered = first.answered
    if first.response != "scored":
        answered = np.repeat(answered, first.plan.test_sizes, axis=1)
    differ = ~np.isclose(first.values[answered], second.values[answered], **NEAR)
    require(not differ.any(), f"{between} differ in {differ.sum()} of {differ.size} answers.")
    free, other = freedom_of(first), freedom_of(second)
    require((free is None) == (other is None), f"{between}: one states freedom.")
    if free is not None and other is not None:
        same = np.allclose(free, other, **NEAR)
        require(same, f"{between} differ in degrees of freedom.")
    require_same_rules(rules_of(first), rules_of(second), between)
    require(first.n_fits == second.n_fits, f"{between}: {first.n_fits}, {second.n_fits} fits.")


def require_same_rules(first: Rules, second: Rules, between: str) -> None:
    """Require equal coefficients of every candidate in every fit, over equal rows."""
    require((first is None) == (second is None), f"{between}: one gives linear rules.")
    expected, found = _by_model(first), _by_model(second)
    require(set(expected) == set(found), f"{between} give the rules of different models.")
    for model, mine in expected.items():
        pairs = zip(mine, found[model], strict=True)
        same = all(np.shape(a) == np.shape(b) and np.allclose(a, b, **NEAR) for a, b in pairs)
        require(same, f"{between} differ in the linear rule of (fit, candidate) {model}.")


def _by_model(rules: Rules) -> dict[tuple[int, int], tuple[Any, ...]]:
    found: dict[tuple[int, int], tuple[Any, ...]] = {}
    for one in rules or ():
        rows = one.rows.toarray() if hasattr(one.rows, "toarray") else one.rows
        meant = np.array([*one.codes, one.pairs], dtype=float)
        for i, candidate in enumerate(one.candidates):
            scores = one.coefficients[i], one.intercepts[i]
            held = np.zeros(0) if rows is None else rows
            found[one.fit, int(candidate)] = (*scores, meant, held)
    return found


def require_contract(answers: Answers, engine: Engine, s: Situation, rows: int) -> None:
    """Require shapes and types as described by `Answers`."""
    plan, values = s.plan, answers.values
    require(answers.plan.fingerprint == plan.fingerprint, "the answers are to another plan.")
    require(answers.response == s.request.response, f"the response is {answers.response}.")
    require(answers.engine == engine.name, f"the engine calls itself {answers.engine!r}.")
    shape = (rows, *_shape(s))
    require(values.shape == shape, f"values have shape {values.shape}, not {shape}.")
    labels = s.request.response == "label"
    kind = np.dtype(code_type(s.data.n_classes) if labels else np.float64)
    require(values.dtype == kind, f"values are {values.dtype}, not {kind}.")
    require(answers.answered.dtype == bool, f"answered is {answers.answered.dtype}, not bool.")
    requested = (rows, plan.n_questions)
    require(answers.answered.shape == requested, f"answered has shape {answers.answered.shape}.")
    require(bool(answers.answered.all()) == (not answers.failures), "answered denies failures.")
    require(answers.n_fits == rows * plan.n_fits, f"n_fits is {answers.n_fits}.")
    for name in ("fit_seconds", "answer_seconds"):
        spent = getattr(answers, name)
        require(spent.shape == (rows, plan.n_fits), f"{name} has shape {spent.shape}.")
        require(bool((spent >= 0).all()), f"{name} are negative or NaN.")


def _shape(s: Situation) -> tuple[int, ...]:
    """Return the shape of one candidate's values."""
    if s.request.response == "scored":
        return (s.plan.n_questions,)
    requested = sum(len(s.plan.test_rows(q)[0]) for q in range(s.plan.n_questions))
    if s.request.response == "probability":
        return requested, s.data.n_classes
    return (requested, *(s.data.y.shape[1:] if s.request.response == "value" else ()))


@frozen
class Check:
    """Check of one fact about a method or an engine; calling it raises an error if it is false.

    `pytest.mark.parametrize` takes checks as they are and shows their names.

    Parameters
    ----------
    name : str
        Name of the check.
    fact : str
        The fact, as a sentence.
    run : callable
        Function without arguments that raises an error if the fact is false.

    See Also
    --------
    truerisk.testing.method_checks : The checks of a method.
    truerisk.testing.engine_checks : The checks of an engine.

    Examples
    --------
    >>> import truerisk as tr
    >>> check = tr.testing.method_checks(tr.methods.KFold(5))[0]
    >>> check()  # raises no error
    >>> check.name
    'says_what_it_estimates'
    """

    name: str
    fact: str
    run: Callable[[], None] = field(repr=False)

    @property
    def __name__(self) -> str:
        return self.name

    def __call__(self) -> None:
        """Run the check."""
        self.run()

    def __str__(self) -> str:
        return self.name


class NotConforming(TrueRiskError, AssertionError):
    """Error that names the failed checks of a method or an engine.

    `failures` holds the error of each failed check by the name of the check.

    Parameters
    ----------
    subject : str
        What was checked.
    total : int
        The number of checks.
    failures : dict of Check to Exception
        The error of each failed check.

    See Also
    --------
    truerisk.testing.check_method : Raises this error.
    truerisk.testing.check_engine : Raises this error.

    Examples
    --------
    >>> import truerisk as tr
    >>> check = tr.testing.method_checks(tr.methods.KFold(5))[0]
    >>> error = tr.testing.NotConforming("method 'mine'", 20, {check: ValueError("no bias")})
    >>> list(error.failures)
    ['says_what_it_estimates']
    """

    def __init__(self, subject: str, total: int, failures: dict[Check, Exception]) -> None:
        lines = [
            f"- {check.name} ({check.fact}) {type(error).__name__}: {error}"
            for check, error in failures.items()
        ]
        head = f"{subject} does not conform: {len(failures)} of {total} checks failed."
        super().__init__("\n".join([head, *lines]))
        self.failures = {check.name: error for check, error in failures.items()}


def check_of(function: Callable[..., None], *arguments: Any, about: str = "") -> Check:
    """Return the check that a function performs; its docstring is the fact."""
    fact = " ".join((inspect.getdoc(function) or "").split())
    name = function.__name__.removeprefix("check_") + (f"[{about}]" if about else "")
    return Check(name, fact, partial(function, *arguments))


def raise_failures(subject: str, checks: Iterable[Check]) -> None:
    """Run all checks, and raise one error with the names of those that failed."""
    failures: dict[Check, Exception] = {}
    total = 0
    for check in checks:
        total += 1
        try:
            check()
        except Exception as error:  # noqa: BLE001 - what is checked may raise anything
            failures[check] = error
    if failures:
        raise NotConforming(subject, total, failures)


def require(fact: bool, otherwise: str) -> None:
    """Raise an AssertionError with a sentence unless the fact holds (also under `python -O`)."""
    if not fact:
        raise AssertionError(otherwise)
