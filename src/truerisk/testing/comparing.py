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
from truerisk.plan.answers import Answers, class_code_dtype
from truerisk.plan.extras.linear_rules import LinearRules
from truerisk.plan.extras.model_facts import get_degrees_of_freedom, get_linear_rules
from truerisk.plan.plan import Plan
from truerisk.testing import strategies
from truerisk.testing.brute_force import brute_force
from truerisk.testing.cases import suppressed_warnings
from truerisk.testing.situations import (
    EngineInput,
    find_weight_parameter,
    list_requests,
    max_columns_and_classes,
)

OptionalLinearRules = tuple[LinearRules, ...] | None

SEED = 3
CLOSE_TOLERANCE: dict[str, Any] = {"rtol": 1e-9, "atol": 1e-12, "equal_nan": True}


@frozen
class HypothesisEffort:
    """Effort of a random test: the number of examples, and if a failing example is minimised."""

    n_examples: int = 25
    shrink: bool = True


@frozen
class RandomTest:
    """Random test of one learner: hypothesis draws data, a plan and a type of prediction."""

    family: Family
    make_plan_strategy: Callable[[Data], Any]
    effort: HypothesisEffort
    has_ties: bool = False
    has_weights: bool = False

    def compare_with_brute_force(self, engine: Engine) -> None:
        """Compare an engine's predictions with those of models that are fitted one by one."""
        self._compare_draws(engine, partial(_compare_with_brute_force, engine, self.family))

    def compare_with_engine(self, reference: Engine, engine: Engine) -> None:
        """Compare the predictions of an engine with those of a reference engine."""
        self._compare_draws(engine, partial(_compare_engines, reference, engine, self.family))

    def _compare_draws(
        self, engine: Engine, compare_once: Callable[[Data, Plan, Request], None]
    ) -> None:
        """Call `compare_once` on random data, plans and requests that the engine accepts."""
        hypothesis_library = strategies.import_hypothesis()
        Phase = hypothesis_library.Phase
        weight_parameter = find_weight_parameter(self.family) if self.has_weights else None
        n_columns, n_classes = max_columns_and_classes(self.family)
        data_set_strategy = strategies.data_sets(
            self.family.task,
            ties=self.has_ties,
            n_columns=n_columns,
            n_classes=n_classes,
            weight=weight_parameter,
        )

        def compare_one_draw(hypothesis_data: Any) -> None:
            data = hypothesis_data.draw(data_set_strategy)
            plan = hypothesis_data.draw(self.make_plan_strategy(data))
            request = hypothesis_data.draw(
                hypothesis_library.strategies.sampled_from(list_requests(self.family, data))
            )
            with suppressed_warnings():
                if (
                    engine.reason_not_served(plan)
                    or engine.refuse(self.family, data, plan, request)
                ) is None:
                    compare_once(data, plan, request)

        hypothesis_settings = hypothesis_library.settings(
            max_examples=self.effort.n_examples,
            phases=(Phase.generate, Phase.shrink) if self.effort.shrink else (Phase.generate,),
            deadline=None,
            database=None,
            derandomize=True,
            suppress_health_check=list(hypothesis_library.HealthCheck),
        )
        hypothesis_settings(
            hypothesis_library.given(hypothesis_library.strategies.data())(compare_one_draw)
        )()


def _compare_with_brute_force(
    engine: Engine, family: Family, data: Data, plan: Plan, request: Request
) -> None:
    expected_predictions = brute_force(family, data, plan, request, SEED)
    engine_answers = _answers_or_none(engine, family, data, plan, request)
    if engine_answers is None:
        has_failed_fit = any(
            expected_value is None
            for predictions in expected_predictions
            for expected_value in predictions
        )
        require(has_failed_fit, "it says that a fit failed, and none does.")
        return
    for candidate, predictions in enumerate(expected_predictions):
        for question_number, expected_value in enumerate(predictions):
            has_prediction = bool(engine_answers.answered[candidate, question_number])
            require(
                has_prediction == (expected_value is not None),
                f"answered[{candidate}, {question_number}] is {has_prediction}, wrongly.",
            )
            if expected_value is not None:
                engine_value = engine_answers.for_question(question_number)[candidate]
                if np.shape(engine_value) != expected_value.shape or not np.allclose(
                    engine_value, expected_value, **CLOSE_TOLERANCE
                ):
                    require(
                        False,
                        f"candidate {candidate}, question {question_number}: "
                        f"{engine_value} and not {expected_value}.",
                    )


def _compare_engines(
    reference: Engine, engine: Engine, family: Family, data: Data, plan: Plan, request: Request
) -> None:
    expected_answers = _answers_or_none(reference, family, data, plan, request)
    engine_answers = _answers_or_none(engine, family, data, plan, request)
    if engine_answers is None:
        has_failed_fit = expected_answers is None or not expected_answers.answered.all()
        require(has_failed_fit, "it says that a fit failed, and none does.")
        return
    require(expected_answers is not None, "a fit fails, and it answers.")
    if expected_answers is not None:
        require_same_answers(
            expected_answers, engine_answers, f"engine '{reference.name}' and this one"
        )


def _answers_or_none(
    engine: Engine, family: Family, data: Data, plan: Plan, request: Request
) -> Answers | None:
    """Return the engine's predictions, or None if it raised FitFailed."""
    try:
        return engine.run(family, data, plan, request, RunOptions(seed=SEED))
    except FitFailed:
        return None


def require_same_answers(
    expected_answers: Answers, compared_answers: Answers, comparison_label: str
) -> None:
    """Raise an AssertionError unless engines agree: labels exactly, numbers to nine digits."""
    require(
        expected_answers.values.shape == compared_answers.values.shape,
        f"{comparison_label} answer in other shapes.",
    )
    require(
        np.array_equal(expected_answers.answered, compared_answers.answered),
        f"{comparison_label} answer other questions.",
    )
    is_answered = expected_answers.answered
    if expected_answers.response != "scored":
        is_answered = np.repeat(is_answered, expected_answers.plan.test_sizes, axis=1)
    is_different = ~np.isclose(
        expected_answers.values[is_answered],
        compared_answers.values[is_answered],
        **CLOSE_TOLERANCE,
    )
    require(
        not is_different.any(),
        f"{comparison_label} differ in {is_different.sum()} of {is_different.size} answers.",
    )
    expected_degrees, compared_degrees = (
        get_degrees_of_freedom(expected_answers),
        get_degrees_of_freedom(compared_answers),
    )
    require(
        (expected_degrees is None) == (compared_degrees is None),
        f"{comparison_label}: one states freedom.",
    )
    if expected_degrees is not None and compared_degrees is not None:
        has_same_degrees = np.allclose(expected_degrees, compared_degrees, **CLOSE_TOLERANCE)
        require(has_same_degrees, f"{comparison_label} differ in degrees of freedom.")
    require_same_rules(
        get_linear_rules(expected_answers), get_linear_rules(compared_answers), comparison_label
    )
    require(
        expected_answers.n_fits == compared_answers.n_fits,
        f"{comparison_label}: {expected_answers.n_fits}, {compared_answers.n_fits} fits.",
    )


def require_same_rules(
    expected_rules: OptionalLinearRules, compared_rules: OptionalLinearRules, comparison_label: str
) -> None:
    """Raise an AssertionError unless all linear models agree in coefficients and training rows."""
    require(
        (expected_rules is None) == (compared_rules is None),
        f"{comparison_label}: one gives linear rules.",
    )
    expected_by_model, compared_by_model = (
        _arrays_by_model(expected_rules),
        _arrays_by_model(compared_rules),
    )
    require(
        set(expected_by_model) == set(compared_by_model),
        f"{comparison_label} give the rules of different models.",
    )
    for fit_and_candidate, expected_arrays in expected_by_model.items():
        array_pairs = zip(expected_arrays, compared_by_model[fit_and_candidate], strict=True)
        has_same_arrays = all(
            np.shape(expected_array) == np.shape(compared_array)
            and np.allclose(expected_array, compared_array, **CLOSE_TOLERANCE)
            for expected_array, compared_array in array_pairs
        )
        require(
            has_same_arrays,
            f"{comparison_label} differ in the linear rule of (fit, candidate) "
            f"{fit_and_candidate}.",
        )


def _arrays_by_model(rules: OptionalLinearRules) -> dict[tuple[int, int], tuple[Any, ...]]:
    arrays_by_model: dict[tuple[int, int], tuple[Any, ...]] = {}
    for rule in rules or ():
        training_table = rule.rows.toarray() if hasattr(rule.rows, "toarray") else rule.rows
        class_codes = np.array([*rule.codes, rule.pairs], dtype=float)
        for i, candidate in enumerate(rule.candidates):
            coefficients_and_intercept = rule.coefficients[i], rule.intercepts[i]
            rows_or_empty = np.zeros(0) if training_table is None else training_table
            arrays_by_model[rule.fit, int(candidate)] = (
                *coefficients_and_intercept,
                class_codes,
                rows_or_empty,
            )
    return arrays_by_model


def require_valid_answers(
    engine_answers: Answers, engine: Engine, engine_input: EngineInput, n_answer_rows: int
) -> None:
    """Raise an AssertionError unless predictions have the shapes and types `Answers` documents."""
    plan, answer_values = engine_input.plan, engine_answers.values
    require(engine_answers.plan.fingerprint == plan.fingerprint, "the answers are to another plan.")
    require(
        engine_answers.response == engine_input.request.response,
        f"the response is {engine_answers.response}.",
    )
    require(
        engine_answers.engine == engine.name, f"the engine calls itself {engine_answers.engine!r}."
    )
    expected_shape = (n_answer_rows, *_prediction_shape(engine_input))
    require(
        answer_values.shape == expected_shape,
        f"values have shape {answer_values.shape}, not {expected_shape}.",
    )
    is_label_request = engine_input.request.response == "label"
    expected_type = np.dtype(
        class_code_dtype(engine_input.data.n_classes) if is_label_request else np.float64
    )
    require(
        answer_values.dtype == expected_type,
        f"values are {answer_values.dtype}, not {expected_type}.",
    )
    require(
        engine_answers.answered.dtype == bool,
        f"answered is {engine_answers.answered.dtype}, not bool.",
    )
    answered_shape = (n_answer_rows, plan.n_questions)
    require(
        engine_answers.answered.shape == answered_shape,
        f"answered has shape {engine_answers.answered.shape}.",
    )
    require(
        bool(engine_answers.answered.all()) == (not engine_answers.failures),
        "answered denies failures.",
    )
    require(
        engine_answers.n_fits == n_answer_rows * plan.n_fits, f"n_fits is {engine_answers.n_fits}."
    )
    for time_field in ("fit_seconds", "answer_seconds"):
        measured_seconds = getattr(engine_answers, time_field)
        require(
            measured_seconds.shape == (n_answer_rows, plan.n_fits),
            f"{time_field} has shape {measured_seconds.shape}.",
        )
        require(bool((measured_seconds >= 0).all()), f"{time_field} are negative or NaN.")


def _prediction_shape(engine_input: EngineInput) -> tuple[int, ...]:
    """Return the shape of the array of predictions that an engine computes for one candidate."""
    if engine_input.request.response == "scored":
        return (engine_input.plan.n_questions,)
    n_requested_rows = sum(
        len(engine_input.plan.test_rows(question_number)[0])
        for question_number in range(engine_input.plan.n_questions)
    )
    if engine_input.request.response == "probability":
        return n_requested_rows, engine_input.data.n_classes
    return (
        n_requested_rows,
        *(engine_input.data.y.shape[1:] if engine_input.request.response == "value" else ()),
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
        summary_line = f"{subject} does not conform: {len(failures)} of {total} checks failed."
        super().__init__("\n".join([summary_line, *failure_lines]))
        self.failures = {check.name: error for check, error in failures.items()}


def make_check(
    check_function: Callable[..., None], *arguments: Any, check_label: str = ""
) -> Check:
    """Wrap a function as a Check, whose fact is the docstring of the function."""
    fact = " ".join((inspect.getdoc(check_function) or "").split())
    check_name = check_function.__name__.removeprefix("check_") + (
        f"[{check_label}]" if check_label else ""
    )
    return Check(check_name, fact, partial(check_function, *arguments))


def run_all_checks(subject: str, checks: Iterable[Check]) -> None:
    """Run all checks, and raise one NotConforming error that names every failed check."""
    failures: dict[Check, Exception] = {}
    n_checks = 0
    for check in checks:
        n_checks += 1
        try:
            check()
        except Exception as error:  # noqa: BLE001 - what is checked may raise anything
            failures[check] = error
    if failures:
        raise NotConforming(subject, n_checks, failures)


def require(is_true: bool, message: str) -> None:
    """Raise an AssertionError with this message unless the condition is true.

    Unlike an assert statement, it also works under `python -O`.
    """
    if not is_true:
        raise AssertionError(message)
