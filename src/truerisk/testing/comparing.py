"""Comparison of an engine's predictions with those of another engine and with the contract."""

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
from truerisk.testing.cases import suppressed_warnings
from truerisk.testing.situations import Situation, requests, weight_parameter_of, widest_input_of

Rules = tuple[LinearRules, ...] | None

SEED = 3
CLOSE_TOLERANCE: dict[str, Any] = {"rtol": 1e-9, "atol": 1e-12, "equal_nan": True}


@frozen
class SearchEffort:
    """Effort of a random search: the number of examples, and whether a failure is minimised."""

    examples: int = 25
    shrink: bool = True


@frozen
class RandomTest:
    """Random test of one family: hypothesis draws data, a plan and a type of prediction."""

    family: Family
    plans: Callable[[Data], Any]
    effort: SearchEffort
    ties: bool = False
    weighted: bool = False

    def compare_with_brute_force(self, engine: Engine) -> None:
        """Compare the engine with models that are fitted one by one."""
        self._compare_draws(engine, partial(_compare_with_brute_force, engine, self.family))

    def compare_with_engine(self, reference: Engine, engine: Engine) -> None:
        """Compare the predictions of an engine with those of a reference engine."""
        self._compare_draws(engine, partial(_compare_engines, reference, engine, self.family))

    def _compare_draws(
        self, engine: Engine, compare: Callable[[Data, Plan, Request], None]
    ) -> None:
        """Call `compare` on random data, plans and requests that the engine does not refuse."""
        library = strategies.hypothesis()
        Phase = library.Phase
        weight = weight_parameter_of(self.family) if self.weighted else None
        n_columns, n_classes = widest_input_of(self.family)
        data_sets = strategies.data_sets(
            self.family.task,
            ties=self.ties,
            n_columns=n_columns,
            n_classes=n_classes,
            weight=weight,
        )

        def compare_one_draw(data_strategy: Any) -> None:
            data = data_strategy.draw(data_sets)
            plan = data_strategy.draw(self.plans(data))
            request = data_strategy.draw(
                library.strategies.sampled_from(requests(self.family, data))
            )
            with suppressed_warnings():
                if (
                    engine.reason_not_served(plan)
                    or engine.refuse(self.family, data, plan, request)
                ) is None:
                    compare(data, plan, request)

        settings = library.settings(
            max_examples=self.effort.examples,
            phases=(Phase.generate, Phase.shrink) if self.effort.shrink else (Phase.generate,),
            deadline=None,
            database=None,
            derandomize=True,
            suppress_health_check=list(library.HealthCheck),
        )
        settings(library.given(library.strategies.data())(compare_one_draw))()


def _compare_with_brute_force(
    engine: Engine, family: Family, data: Data, plan: Plan, request: Request
) -> None:
    expected_predictions = brute_force(family, data, plan, request, SEED)
    answers = _answers_or_none(engine, family, data, plan, request)
    if answers is None:
        has_failed_fit = any(
            expected_value is None
            for predictions in expected_predictions
            for expected_value in predictions
        )
        require(has_failed_fit, "it says that a fit failed, and none does.")
        return
    for candidate, predictions in enumerate(expected_predictions):
        for question, expected_value in enumerate(predictions):
            answered = bool(answers.answered[candidate, question])
            require(
                answered == (expected_value is not None),
                f"answered[{candidate}, {question}] is {answered}, wrongly.",
            )
            if expected_value is not None:
                engine_value = answers.for_question(question)[candidate]
                if np.shape(engine_value) != expected_value.shape or not np.allclose(
                    engine_value, expected_value, **CLOSE_TOLERANCE
                ):
                    require(
                        False,
                        f"candidate {candidate}, question {question}: {engine_value} and not "
                        f"{expected_value}.",
                    )


def _compare_engines(
    reference: Engine, engine: Engine, family: Family, data: Data, plan: Plan, request: Request
) -> None:
    expected_answers = _answers_or_none(reference, family, data, plan, request)
    answers = _answers_or_none(engine, family, data, plan, request)
    if answers is None:
        has_failed_fit = expected_answers is None or not expected_answers.answered.all()
        require(has_failed_fit, "it says that a fit failed, and none does.")
        return
    require(expected_answers is not None, "a fit fails, and it answers.")
    if expected_answers is not None:
        require_same(expected_answers, answers, f"engine '{reference.name}' and this one")


def _answers_or_none(
    engine: Engine, family: Family, data: Data, plan: Plan, request: Request
) -> Answers | None:
    """Return the engine's answers, or None if it raised FitFailed."""
    try:
        return engine.run(family, data, plan, request, RunOptions(seed=SEED))
    except FitFailed:
        return None


def require_same(expected_answers: Answers, answers: Answers, compared: str) -> None:
    """Raise an AssertionError unless two engines agree: labels exactly, numbers to nine digits."""
    require(
        expected_answers.values.shape == answers.values.shape, f"{compared} answer in other shapes."
    )
    require(
        np.array_equal(expected_answers.answered, answers.answered),
        f"{compared} answer other questions.",
    )
    answered_values = expected_answers.answered
    if expected_answers.response != "scored":
        answered_values = np.repeat(answered_values, expected_answers.plan.test_sizes, axis=1)
    differs = ~np.isclose(
        expected_answers.values[answered_values], answers.values[answered_values], **CLOSE_TOLERANCE
    )
    require(not differs.any(), f"{compared} differ in {differs.sum()} of {differs.size} answers.")
    freedom, other_free = freedom_of(expected_answers), freedom_of(answers)
    require((freedom is None) == (other_free is None), f"{compared}: one states freedom.")
    if freedom is not None and other_free is not None:
        is_same = np.allclose(freedom, other_free, **CLOSE_TOLERANCE)
        require(is_same, f"{compared} differ in degrees of freedom.")
    require_same_rules(rules_of(expected_answers), rules_of(answers), compared)
    require(
        expected_answers.n_fits == answers.n_fits,
        f"{compared}: {expected_answers.n_fits}, {answers.n_fits} fits.",
    )


def require_same_rules(expected_rules: Rules, rules: Rules, compared: str) -> None:
    """Raise an AssertionError unless all linear models agree in coefficients and training rows."""
    require((expected_rules is None) == (rules is None), f"{compared}: one gives linear rules.")
    first_by_model, second_by_model = _arrays_by_model(expected_rules), _arrays_by_model(rules)
    require(
        set(first_by_model) == set(second_by_model),
        f"{compared} give the rules of different models.",
    )
    for model, first_arrays in first_by_model.items():
        array_pairs = zip(first_arrays, second_by_model[model], strict=True)
        is_same = all(
            np.shape(first_array) == np.shape(second_array)
            and np.allclose(first_array, second_array, **CLOSE_TOLERANCE)
            for first_array, second_array in array_pairs
        )
        require(is_same, f"{compared} differ in the linear rule of (fit, candidate) {model}.")


def _arrays_by_model(rules: Rules) -> dict[tuple[int, int], tuple[Any, ...]]:
    arrays_by_model: dict[tuple[int, int], tuple[Any, ...]] = {}
    for rule in rules or ():
        rows = rule.rows.toarray() if hasattr(rule.rows, "toarray") else rule.rows
        class_codes = np.array([*rule.codes, rule.pairs], dtype=float)
        for i, candidate in enumerate(rule.candidates):
            scores = rule.coefficients[i], rule.intercepts[i]
            training_rows = np.zeros(0) if rows is None else rows
            arrays_by_model[rule.fit, int(candidate)] = (*scores, class_codes, training_rows)
    return arrays_by_model


def require_contract(answers: Answers, engine: Engine, situation: Situation, rows: int) -> None:
    """Raise an AssertionError unless the shapes and types are those that `Answers` documents."""
    plan, values = situation.plan, answers.values
    require(answers.plan.fingerprint == plan.fingerprint, "the answers are to another plan.")
    require(answers.response == situation.request.response, f"the response is {answers.response}.")
    require(answers.engine == engine.name, f"the engine calls itself {answers.engine!r}.")
    shape = (rows, *_shape(situation))
    require(values.shape == shape, f"values have shape {values.shape}, not {shape}.")
    labels = situation.request.response == "label"
    expected_type = np.dtype(code_type(situation.data.n_classes) if labels else np.float64)
    require(values.dtype == expected_type, f"values are {values.dtype}, not {expected_type}.")
    require(answers.answered.dtype == bool, f"answered is {answers.answered.dtype}, not bool.")
    requested = (rows, plan.n_questions)
    require(answers.answered.shape == requested, f"answered has shape {answers.answered.shape}.")
    require(bool(answers.answered.all()) == (not answers.failures), "answered denies failures.")
    require(answers.n_fits == rows * plan.n_fits, f"n_fits is {answers.n_fits}.")
    for name in ("fit_seconds", "answer_seconds"):
        seconds = getattr(answers, name)
        require(seconds.shape == (rows, plan.n_fits), f"{name} has shape {seconds.shape}.")
        require(bool((seconds >= 0).all()), f"{name} are negative or NaN.")


def _shape(situation: Situation) -> tuple[int, ...]:
    """Return the shape of the values that are computed for one candidate."""
    if situation.request.response == "scored":
        return (situation.plan.n_questions,)
    n_requested_rows = sum(
        len(situation.plan.test_rows(question)[0]) for question in range(situation.plan.n_questions)
    )
    if situation.request.response == "probability":
        return n_requested_rows, situation.data.n_classes
    return (
        n_requested_rows,
        *(situation.data.y.shape[1:] if situation.request.response == "value" else ()),
    )


@frozen
class Check:
    """Conformance test of one fact about a method or an engine; a call raises if it is false.

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
    """Error that lists the failed conformance tests of a method or an engine.

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
        failure_lines = [
            f"- {check.name} ({check.fact}) {type(error).__name__}: {error}"
            for check, error in failures.items()
        ]
        head = f"{subject} does not conform: {len(failures)} of {total} checks failed."
        super().__init__("\n".join([head, *failure_lines]))
        self.failures = {check.name: error for check, error in failures.items()}


def check_of(function: Callable[..., None], *arguments: Any, label: str = "") -> Check:
    """Wrap a function as a Check, whose fact is the docstring of the function."""
    fact = " ".join((inspect.getdoc(function) or "").split())
    name = function.__name__.removeprefix("check_") + (f"[{label}]" if label else "")
    return Check(name, fact, partial(function, *arguments))


def raise_failures(subject: str, checks: Iterable[Check]) -> None:
    """Run all checks, and raise one NotConforming error that names every failed check."""
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


def require(fact: bool, message: str) -> None:
    """Raise an AssertionError with the message `otherwise` unless the fact holds.

    Unlike an assert statement, it also works under `python -O`.
    """
    if not fact:
        raise AssertionError(message)
