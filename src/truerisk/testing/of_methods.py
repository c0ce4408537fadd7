"""Conformance tests of risk-estimation methods."""

from __future__ import annotations

import json
import pickle
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from functools import cached_property
from types import ModuleType
from typing import Any, get_args

import numpy as np

from truerisk.contracts import Method, Streams
from truerisk.core.errors import Refusal
from truerisk.core.frozen import frozen
from truerisk.engines.workers.processes import get_reusable_pool
from truerisk.plan.plan import Plan
from truerisk.results.evaluation import Evaluation, Target
from truerisk.results.interval import interval_ends
from truerisk.results.results import RiskEstimate
from truerisk.testing.cases import (
    Case,
    RecordingEngine,
    all_estimates,
    altered_plans,
    comparable_contents,
    error_free_cases,
    evaluate,
    make_risk_estimates,
    permuted_data,
    permuted_plan,
    read_only_data,
    recoded_plan,
    rename_classes,
    serialise_answers,
    suppressed_warnings,
    two_class_case,
    wrap_in_bagging,
)
from truerisk.testing.comparing import Check, make_check, require, run_all_checks


def _evaluate_in_worker(pickled_trial: bytes, seed: int) -> dict[str, Any] | None:
    """Evaluate a pickled method in a worker process; return None if its code is not found there."""
    try:
        method, case = pickle.loads(pickled_trial)
    except (ImportError, AttributeError):
        return None
    return comparable_contents(evaluate(method, case, seed=seed))


def _pickle_trial(method: Method, case: Case, embedded_modules: Sequence[ModuleType]) -> bytes:
    """Pickle method and case, including the code of the modules in `embedded_modules`.

    Code of other modules is referred to by its name, so the worker must be able to import it.
    """
    import cloudpickle

    for module in embedded_modules:
        cloudpickle.register_pickle_by_value(module)
    try:
        pickled_trial: bytes = cloudpickle.dumps((method, case))
    finally:
        for module in embedded_modules:
            cloudpickle.unregister_pickle_by_value(module)
    return pickled_trial


def _find_own_modules(method: Method) -> list[ModuleType]:
    """Return the modules that define the method's classes, except those of this package."""
    module_names = {base_class.__module__ for base_class in type(method).__mro__}
    return [
        sys.modules[module_name]
        for module_name in module_names
        if not module_name.startswith(("truerisk.", "builtins", "abc"))
    ]


def method_checks(method: Method, case: Case | None = None) -> list[Check]:
    """Return the conformance tests of a method, as callables.

    Parameters
    ----------
    method : Method
        The method.
    case : Case, optional
        The family, data and loss on which it is run, for a method that refuses the default ones:
        two overlapping classes, two settings of a nearest-mean rule, and zero-one loss.

    Returns
    -------
    list of Check
        The checks, each callable without arguments; `check.fact` is the fact that it establishes.

    See Also
    --------
    truerisk.testing.check_method : Run all checks at once.

    Examples
    --------
    >>> from truerisk.methods import KFold
    >>> from truerisk.testing import method_checks
    >>> print(method_checks(KFold(5))[0])
    says_what_it_estimates
    """
    trial = MethodTrial(method, case or two_class_case())
    return [make_check(check_function, trial) for check_function in METHOD_CHECKS]


def check_method(method: Method, case: Case | None = None) -> None:
    """Run all conformance tests of a method, and raise one error that names each failed test.

    Parameters
    ----------
    method : Method
        The method.
    case : Case, optional
        The family, data and loss, as in `method_checks`.

    Raises
    ------
    NotConforming
        If a check fails.

    See Also
    --------
    truerisk.testing.method_checks : The same checks one by one, for `pytest.mark.parametrize`.

    Examples
    --------
    >>> import truerisk as tr
    >>> tr.testing.check_method(tr.methods.KFold(5))
    """
    run_all_checks(f"method '{method.name}'", method_checks(method, case))


@frozen(eq=False)
class MethodTrial:
    """A method with its test case; its evaluation is computed once and shared by all checks."""

    method: Method
    case: Case

    def draw_plan(self, seed: int = 0) -> Plan:
        """Return the plan that the method draws with this seed."""
        with suppressed_warnings():
            loss = self.method.loss_of(self.case.data, self.case.loss, requested=False)
            self.method.check(self.case.data, loss)
            return self.method.plan(self.case.data, Streams(seed))

    def evaluate(self, case: Case | None = None, **options: Any) -> Evaluation:
        """Evaluate the method on its case, or on another one.

        The method draws its own plan unless `plan` is among the options.
        """
        return evaluate(self.method, case or self.case, **options)

    @cached_property
    def plan(self) -> Plan:
        """Plan that the method draws with seed 0."""
        return self.draw_plan()

    @cached_property
    def recording_engine(self) -> RecordingEngine:
        """Engine that computed the predictions for `evaluation`."""
        return RecordingEngine()

    @cached_property
    def evaluation(self) -> Evaluation:
        """Evaluation of the method on the plan with seed 0."""
        return self.evaluate(plan=self.plan, engine=self.recording_engine)

    @cached_property
    def evaluation_contents(self) -> dict[str, Any]:
        """Results of `evaluation` as comparable values, read directly after it was computed."""
        return comparable_contents(self.evaluation)


def check_says_what_it_estimates(trial: MethodTrial) -> None:
    """Check that a method has a name, a known target, and a sentence about its bias."""
    method = trial.method
    require(bool(method.name.strip()), "the word is empty.")
    require(method.target in get_args(Target), f"target {method.target!r} is not in {Target}.")
    require(bool(method.bias.strip()), "nothing is said about the bias.")


def check_one_estimate_per_candidate(trial: MethodTrial) -> None:
    """Check that each candidate gets a finite value or a note, and standard errors are positive."""
    n_estimates, n_candidates = len(trial.evaluation.tested), len(trial.case.family)
    require(n_estimates == n_candidates, f"{n_estimates} estimates for {n_candidates} candidates.")
    for risk in all_estimates(trial.evaluation):
        is_exempt = not trial.method.rates_all and np.isnan(risk.value) and bool(risk.notes)
        require(is_exempt or bool(np.isfinite(risk.value)), f"the value is {risk.value}.")
        std_error, interval = risk.read_std_error(), risk.read_interval()
        require(std_error is None or std_error > 0, f"the standard error is {std_error}.")
        if interval is not None:
            require(interval.low <= interval.high, f"the interval {interval} is upside down.")
            require(bool(interval.method), "the interval does not name its method.")


def check_same_seed_same_plan(trial: MethodTrial) -> None:
    """Check that the method draws the same plan twice from the same data and seed."""
    first_fingerprint, second_fingerprint = (trial.draw_plan(7).fingerprint for _ in range(2))
    require(
        first_fingerprint == second_fingerprint,
        f"two plans of seed 7 differ: {first_fingerprint} and {second_fingerprint}.",
    )


def check_same_plan_same_result(trial: MethodTrial) -> None:
    """Check that two evaluations of one plan give bit-identical results."""
    second_contents = comparable_contents(trial.evaluate(plan=trial.plan))
    _require_same_contents(
        trial.evaluation_contents, second_contents, "two evaluations of one plan"
    )


def check_same_result_in_another_process(trial: MethodTrial) -> None:
    """Check that another process with the same seed gets the same plan and the same result."""
    # The engines use these worker processes, and starting another pool would end them.
    worker_pool = get_reusable_pool(2)
    # A worker process cannot import a test file, so the second attempt sends the file's code.
    for embedded_modules in ([], _find_own_modules(trial.method)):
        pickled_trial = _pickle_trial(trial.method, trial.case, embedded_modules)
        worker_contents = worker_pool.submit(_evaluate_in_worker, pickled_trial, 0).result()
        if worker_contents is not None:
            _require_same_contents(
                trial.evaluation_contents, worker_contents, "this process and another"
            )
            return
    raise AssertionError(f"{type(trial.method).__name__} cannot be sent to another process.")


def check_same_result_on_any_executor(trial: MethodTrial) -> None:
    """Check that this process, threads and worker processes give the same result."""
    with ThreadPoolExecutor(2) as thread_pool:
        executor_contents = comparable_contents(
            trial.evaluate(plan=trial.plan, executor=thread_pool)
        )
    _require_same_contents(trial.evaluation_contents, executor_contents, "this process and threads")
    executor_contents = comparable_contents(trial.evaluate(plan=trial.plan, executor=2))
    _require_same_contents(
        trial.evaluation_contents, executor_contents, "this process and two workers"
    )


def check_names_of_classes_do_not_matter(trial: MethodTrial) -> None:
    """Check that renaming the classes, in the same order, changes neither plan nor result."""
    case = trial.case
    if case.data.classes is None:
        return
    new_class_names = [f"class {class_number:03d}" for class_number in range(case.data.n_classes)]
    renamed_case = replace(case, data=rename_classes(case.data, new_class_names))
    _require_same_contents(
        trial.evaluation_contents,
        comparable_contents(trial.evaluate(renamed_case)),
        "0, 1 and names",
    )


def check_order_of_classes_does_not_matter(trial: MethodTrial) -> None:
    """Check that reversing the sorted order of the class names leaves the risks unchanged."""
    case = trial.case
    if case.data.classes is None:
        return
    reversed_class_codes = np.arange(case.data.n_classes)[::-1]
    renamed_case = replace(case, data=rename_classes(case.data, reversed_class_codes))
    renamed_evaluation = trial.evaluate(
        renamed_case, plan=recoded_plan(trial.plan, reversed_class_codes)
    )
    values_before, values_after = (
        [risk.value for risk in all_estimates(evaluation)]
        for evaluation in (trial.evaluation, renamed_evaluation)
    )
    _require_close(values_before, values_after, "classes in reversed order")


def check_order_of_rows_does_not_matter(trial: MethodTrial) -> None:
    """Check that permuting the rows, in data and plan alike, changes neither risks nor losses."""
    data = trial.case.data
    permutation = np.random.default_rng(1).permutation(data.n_rows)
    permuted_case = replace(trial.case, data=permuted_data(data, permutation))
    permuted_evaluation = trial.evaluate(permuted_case, plan=permuted_plan(trial.plan, permutation))
    for old_estimate, new_estimate in zip(
        all_estimates(trial.evaluation), all_estimates(permuted_evaluation), strict=True
    ):
        _require_close(
            _value_error_and_limits(old_estimate),
            _value_error_and_limits(new_estimate),
            "permuted rows",
        )
        if old_estimate.losses is not None and new_estimate.losses is not None:
            assert old_estimate.loss_rows is not None and new_estimate.loss_rows is not None
            original_order = np.argsort(permutation[new_estimate.loss_rows])
            _require_close(
                old_estimate.losses[np.argsort(old_estimate.loss_rows)],
                new_estimate.losses[original_order],
                "their losses",
            )


def check_perfect_rule_has_risk_0(trial: MethodTrial) -> None:
    """Check that a model without errors, or bags of such models, have an estimated risk of 0."""
    method = trial.method
    # A method that smooths, or adds a penalty to the errors, declares that it is exempt.
    if not method.perfect_is_0:
        return
    cases = error_free_cases(trial.case.data)
    is_accepted = _require_zero_risk(method, cases) or _require_zero_risk(
        method, [wrap_in_bagging(case) for case in cases]
    )
    require(is_accepted, "the method refused both classes and numbers.")


def _require_zero_risk(method: Method, cases: list[Case]) -> bool:
    """Return True if the method accepts some case; raise an error unless its risk is 0 there."""
    is_accepted = False
    for case in cases:
        try:
            evaluation = evaluate(method, case)
        except Refusal:
            continue
        is_accepted = True
        for risk in all_estimates(evaluation):
            require(risk.value == 0, f"it is said to have risk {risk.value}.")
    return is_accepted


def check_X_and_y_stay_as_they_were(trial: MethodTrial) -> None:  # noqa: N802
    """Check that neither X nor y nor the class codes are modified."""
    data_before = read_only_data(trial.case.data)
    trial.evaluate()
    for array_name in ("X", "y", "classes", "codes"):
        old_array, new_array = (
            getattr(data_before, array_name),
            getattr(trial.case.data, array_name),
        )
        if isinstance(old_array, np.ndarray):
            require(old_array.tobytes() == new_array.tobytes(), f"{array_name} was written to.")


def check_takes_read_only_arrays(trial: MethodTrial) -> None:
    """Check that data in read-only memory give the same result."""
    read_only_case = replace(trial.case, data=read_only_data(trial.case.data))
    _require_same_contents(
        trial.evaluation_contents,
        comparable_contents(trial.evaluate(read_only_case)),
        "read-only data",
    )


def check_answers_stay_as_they_were(trial: MethodTrial) -> None:
    """Check that estimating risks does not modify the predictions, since methods may share them."""
    comparable_contents(trial.evaluation)
    for recorded_answers, bytes_before in trial.recording_engine.recorded_answers:
        require(serialise_answers(recorded_answers) == bytes_before, "the answers were written to.")


def check_estimates_survive_json(trial: MethodTrial) -> None:
    """Check that a result that is written as JSON and read again is unchanged."""
    for estimate in make_risk_estimates(trial.method, trial.case, trial.evaluation):
        restored_estimate = RiskEstimate.from_json(estimate.to_json())
        _require_same_contents(
            estimate.to_dict(), restored_estimate.to_dict(), "a result and its JSON"
        )
        for dataclass_field in fields(estimate):
            # Fields that are excluded from comparison are not written to JSON.
            if not dataclass_field.compare:
                continue
            written_value, restored_value = (
                getattr(estimate, dataclass_field.name),
                getattr(restored_estimate, dataclass_field.name),
            )
            if isinstance(written_value, np.ndarray):
                is_float = written_value.dtype.kind == "f"
                is_unchanged = written_value.dtype.kind == restored_value.dtype.kind
                is_unchanged = is_unchanged and np.array_equal(
                    written_value, restored_value, equal_nan=is_float
                )
            else:
                is_unchanged = written_value == restored_value
            require(
                is_unchanged,
                f"{dataclass_field.name} came back as {restored_value!r}, was {written_value!r}.",
            )


def check_plan_survives_json(trial: MethodTrial) -> None:
    """Check that a plan read from its JSON has the same fingerprint and gives the same result."""
    restored_plan = Plan.from_dict(json.loads(json.dumps(trial.plan.to_dict())))
    require(
        trial.plan.fingerprint == restored_plan.fingerprint, "its fingerprint came back otherwise."
    )
    _require_same_contents(
        trial.evaluation_contents,
        comparable_contents(trial.evaluate(plan=restored_plan)),
        "a plan and its JSON",
    )


def check_fingerprint_changes_with_the_plan(trial: MethodTrial) -> None:
    """Check that a change of any field of a plan changes its fingerprint."""
    plan = trial.plan
    for change_description, changed_plan in altered_plans(plan):
        require(
            plan.fingerprint != changed_plan.fingerprint,
            f"it does not depend on {change_description}.",
        )
    plan_of_seed_8 = trial.draw_plan(8)
    if plan.to_dict() != plan_of_seed_8.to_dict():
        require(plan.fingerprint != plan_of_seed_8.fingerprint, "two different plans share it.")


def check_no_fit_predicts_its_own_rows(trial: MethodTrial) -> None:
    """Check that no model is tested on its training rows, except for the apparent error.

    Methods without splits are exempt. Training sets that are defined by a distribution exclude the
    tested row, and out-of-bag predictions come from ensemble members that were fitted without it.
    """
    plan = trial.plan
    if not trial.method.splits:
        return
    for question_number in range(plan.n_questions):
        if plan.without_row[question_number]:
            continue
        part_name = plan.parts[int(plan.part[question_number])]
        train_rows, _ = plan.train_rows(int(plan.fit[question_number]))
        shared_rows = np.intersect1d(train_rows, plan.test_rows(question_number)[0])
        leak_message = (
            f"question {question_number} asks fit {plan.fit[question_number]} about row "
            f"{shared_rows[:1]}, which trained it."
        )
        require(part_name == "apparent" or not len(shared_rows), leak_message)


METHOD_CHECKS = (
    check_says_what_it_estimates,
    check_one_estimate_per_candidate,
    check_same_seed_same_plan,
    check_same_plan_same_result,
    check_same_result_in_another_process,
    check_same_result_on_any_executor,
    check_names_of_classes_do_not_matter,
    check_order_of_classes_does_not_matter,
    check_order_of_rows_does_not_matter,
    check_perfect_rule_has_risk_0,
    check_X_and_y_stay_as_they_were,
    check_takes_read_only_arrays,
    check_answers_stay_as_they_were,
    check_estimates_survive_json,
    check_plan_survives_json,
    check_fingerprint_changes_with_the_plan,
    check_no_fit_predicts_its_own_rows,
)


def _value_error_and_limits(tested_estimate: Any) -> list[float]:
    """Return an estimate's value, standard error and interval limits, with NaN for missing ones."""
    optional_numbers = [
        tested_estimate.value,
        tested_estimate.read_std_error(),
        *interval_ends(tested_estimate.read_interval()),
    ]
    return [
        np.nan if optional_number is None else optional_number
        for optional_number in optional_numbers
    ]


def _require_same_contents(
    first_contents: dict[str, Any], second_contents: dict[str, Any], comparison_label: str
) -> None:
    differing_keys = [
        result_key
        for result_key in first_contents
        if first_contents[result_key] != second_contents.get(result_key)
    ]
    require(not differing_keys, f"{comparison_label} differ in {', '.join(differing_keys)}.")


def _require_close(first_values: Any, second_values: Any, comparison_label: str) -> None:
    is_close = np.allclose(first_values, second_values, rtol=1e-9, atol=1e-12, equal_nan=True)
    require(is_close, f"{comparison_label}: {first_values} became {second_values}.")
