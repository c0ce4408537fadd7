"""The checks that any method must pass."""

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
from truerisk.engines.workers.processes import reusable_workers
from truerisk.plan.plan import Plan
from truerisk.results.evaluation import Evaluation, Target
from truerisk.results.interval import ends_of
from truerisk.results.results import RiskEstimate
from truerisk.testing.cases import (
    Case,
    Recorder,
    all_tested,
    altered,
    bagged,
    content_of,
    contents_of,
    estimates,
    evaluate,
    frozen_data,
    perfect_cases,
    permuted_data,
    permuted_plan,
    quiet,
    recoded_plan,
    renamed,
    two_classes,
)
from truerisk.testing.comparing import Check, check_of, raise_failures, require


def _contents_in_worker(sent: bytes, seed: int) -> dict[str, Any] | None:
    """Evaluate in the worker; return None if what was sent cannot be imported."""
    try:
        method, case = pickle.loads(sent)
    except (ImportError, AttributeError):
        return None
    return contents_of(evaluate(method, case, seed=seed))


def _pickled(method: Method, case: Case, by_value: Sequence[ModuleType]) -> bytes:
    """Pickle method and case with the code of these modules; other code is referred to by name."""
    import cloudpickle

    for module in by_value:
        cloudpickle.register_pickle_by_value(module)
    try:
        sent: bytes = cloudpickle.dumps((method, case))
    finally:
        for module in by_value:
            cloudpickle.unregister_pickle_by_value(module)
    return sent


def _files_of(method: Method) -> list[ModuleType]:
    """Return the modules that the method's class comes from, except those of this package."""
    names = {cls.__module__ for cls in type(method).__mro__}
    return [sys.modules[n] for n in names if not n.startswith(("truerisk.", "builtins", "abc"))]


def method_checks(method: Method, case: Case | None = None) -> list[Check]:
    """Return the checks of a method, one by one.

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
    trial = Trial(method, case or two_classes())
    return [check_of(function, trial) for function in CHECKS]


def check_method(method: Method, case: Case | None = None) -> None:
    """Run all checks of a method, and raise one error that names each failed check.

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
    raise_failures(f"method '{method.name}'", method_checks(method, case))


@frozen(eq=False)
class Trial:
    """A method on its case, whose evaluation is computed once for all checks that compare it."""

    method: Method
    case: Case

    def draw(self, seed: int = 0) -> Plan:
        """Return a plan with this seed."""
        with quiet():
            loss = self.method.loss_of(self.case.data, self.case.loss, requested=False)
            self.method.check(self.case.data, loss)
            return self.method.plan(self.case.data, Streams(seed))

    def evaluate(self, case: Case | None = None, **options: Any) -> Evaluation:
        """Evaluate the method on the case or another one, with its own plan unless one is given."""
        return evaluate(self.method, case or self.case, **options)

    @cached_property
    def plan(self) -> Plan:
        """The plan with seed 0."""
        return self.draw()

    @cached_property
    def recorder(self) -> Recorder:
        """The engine that made the answers of `evaluation`."""
        return Recorder()

    @cached_property
    def evaluation(self) -> Evaluation:
        """The evaluation of the plan with seed 0."""
        return self.evaluate(plan=self.plan, engine=self.recorder)

    @cached_property
    def contents(self) -> dict[str, Any]:
        """The content of the evaluation when it was made."""
        return contents_of(self.evaluation)


def check_says_what_it_estimates(trial: Trial) -> None:
    """Check that a method has a word, a known target, and a sentence on its bias."""
    method = trial.method
    require(bool(method.name.strip()), "the word is empty.")
    require(method.target in get_args(Target), f"target {method.target!r} is not in {Target}.")
    require(bool(method.bias.strip()), "nothing is said about the bias.")


def check_one_estimate_per_candidate(trial: Trial) -> None:
    """Check that every candidate gets a finite value or a note, and errors are positive."""
    n, candidates = len(trial.evaluation.tested), len(trial.case.family)
    require(n == candidates, f"{n} estimates for {candidates} candidates.")
    for tested in all_tested(trial.evaluation):
        spared = not trial.method.rates_all and np.isnan(tested.value) and bool(tested.notes)
        require(spared or bool(np.isfinite(tested.value)), f"the value is {tested.value}.")
        error, interval = tested.read_std_error(), tested.read_interval()
        require(error is None or error > 0, f"the standard error is {error}.")
        if interval is not None:
            require(interval.low <= interval.high, f"the interval {interval} is upside down.")
            require(bool(interval.method), "the interval does not name its method.")


def check_same_seed_same_plan(trial: Trial) -> None:
    """Check that the same data and seed give the same plan."""
    first, second = (trial.draw(7).fingerprint for _ in range(2))
    require(first == second, f"two plans of seed 7 differ: {first} and {second}.")


def check_same_plan_same_result(trial: Trial) -> None:
    """Check that the same plan gives the same result, to the last bit."""
    again = contents_of(trial.evaluate(plan=trial.plan))
    _require_same(trial.contents, again, "two evaluations of one plan")


def check_same_result_in_another_process(trial: Trial) -> None:
    """Check that another process with the same seed draws the same plan and result."""
    # These are the workers of the engines, since another pool would end them.
    workers = reusable_workers(2)
    for by_value in ([], _files_of(trial.method)):  # A test file cannot be imported there.
        sent = _pickled(trial.method, trial.case, by_value)
        there = workers.submit(_contents_in_worker, sent, 0).result()
        if there is not None:
            _require_same(trial.contents, there, "this process and another")
            return
    raise AssertionError(f"{type(trial.method).__name__} cannot be sent to another process.")


def check_same_result_on_any_executor(trial: Trial) -> None:
    """Check that this process, threads and worker processes give the same result."""
    with ThreadPoolExecutor(2) as threads:
        there = contents_of(trial.evaluate(plan=trial.plan, executor=threads))
    _require_same(trial.contents, there, "this process and threads")
    there = contents_of(trial.evaluate(plan=trial.plan, executor=2))
    _require_same(trial.contents, there, "this process and two workers")


def check_names_of_classes_do_not_matter(trial: Trial) -> None:
    """Check that other names of classes, in the same order, give the same plan and result."""
    case = trial.case
    if case.data.classes is None:
        return
    names = [f"class {c:03d}" for c in range(case.data.n_classes)]
    other = replace(case, data=renamed(case.data, names))
    _require_same(trial.contents, contents_of(trial.evaluate(other)), "0, 1 and names")


def check_order_of_classes_does_not_matter(trial: Trial) -> None:
    """Check that names of classes in reversed order give the same risks by the same plan."""
    case = trial.case
    if case.data.classes is None:
        return
    names = np.arange(case.data.n_classes)[::-1]
    other = replace(case, data=renamed(case.data, names))
    turned = trial.evaluate(other, plan=recoded_plan(trial.plan, names))
    before, after = ([t.value for t in all_tested(e)] for e in (trial.evaluation, turned))
    _require_close(before, after, "classes in reversed order")


def check_order_of_rows_does_not_matter(trial: Trial) -> None:
    """Check that rows permuted together with the plan have the same risks and losses."""
    data = trial.case.data
    order = np.random.default_rng(1).permutation(data.n_rows)
    other = replace(trial.case, data=permuted_data(data, order))
    moved = trial.evaluate(other, plan=permuted_plan(trial.plan, order))
    for old, new in zip(all_tested(trial.evaluation), all_tested(moved), strict=True):
        _require_close(_numbers(old), _numbers(new), "permuted rows")
        if old.losses is not None and new.losses is not None:
            assert old.loss_rows is not None and new.loss_rows is not None
            back = np.argsort(order[new.loss_rows])
            _require_close(old.losses[np.argsort(old.loss_rows)], new.losses[back], "their losses")


def check_perfect_rule_has_risk_0(trial: Trial) -> None:
    """Check that a rule without errors has risk 0, or else bags of it."""
    method = trial.method
    # The method smooths, or penalises more than errors, and declares it.
    if not method.perfect_is_0:
        return
    usual = perfect_cases(trial.case.data)
    served = _perfect(method, usual) or _perfect(method, [bagged(one) for one in usual])
    require(served, "the method refused both classes and numbers.")


def _perfect(method: Method, cases: list[Case]) -> bool:
    """Return True if some case was served; its risk must be 0."""
    served = False
    for case in cases:
        try:
            evaluation = evaluate(method, case)
        except Refusal:
            continue
        served = True
        for tested in all_tested(evaluation):
            require(tested.value == 0, f"it is said to have risk {tested.value}.")
    return served


def check_X_and_y_stay_as_they_were(trial: Trial) -> None:  # noqa: N802
    """Check that neither X nor y nor the class codes are modified."""
    before = frozen_data(trial.case.data)
    trial.evaluate()
    for name in ("X", "y", "classes", "codes"):
        old, new = getattr(before, name), getattr(trial.case.data, name)
        if isinstance(old, np.ndarray):
            require(old.tobytes() == new.tobytes(), f"{name} was written to.")


def check_takes_read_only_arrays(trial: Trial) -> None:
    """Check that data in read-only memory give the same result."""
    locked = replace(trial.case, data=frozen_data(trial.case.data))
    _require_same(trial.contents, contents_of(trial.evaluate(locked)), "read-only data")


def check_answers_stay_as_they_were(trial: Trial) -> None:
    """Check that reducing answers does not modify them, since others may read them."""
    contents_of(trial.evaluation)
    for answers, before in trial.recorder.answered:
        require(content_of(answers) == before, "the answers were written to.")


def check_estimates_survive_json(trial: Trial) -> None:
    """Check that a result written as JSON and read again is the same."""
    for estimate in estimates(trial.method, trial.case, trial.evaluation):
        back = RiskEstimate.from_json(estimate.to_json())
        _require_same(estimate.to_dict(), back.to_dict(), "a result and its JSON")
        for each in fields(estimate):
            if not each.compare:  # These fields are not written.
                continue
            old, new = getattr(estimate, each.name), getattr(back, each.name)
            if isinstance(old, np.ndarray):
                unknown = old.dtype.kind == "f"
                same = old.dtype.kind == new.dtype.kind
                same = same and np.array_equal(old, new, equal_nan=unknown)
            else:
                same = old == new
            require(same, f"{each.name} came back as {new!r}, was {old!r}.")


def check_plan_survives_json(trial: Trial) -> None:
    """Check that a plan read from its JSON has the same fingerprint and the same result."""
    back = Plan.from_dict(json.loads(json.dumps(trial.plan.to_dict())))
    require(trial.plan.fingerprint == back.fingerprint, "its fingerprint came back otherwise.")
    _require_same(trial.contents, contents_of(trial.evaluate(plan=back)), "a plan and its JSON")


def check_fingerprint_changes_with_the_plan(trial: Trial) -> None:
    """Check that any change of a plan changes its fingerprint."""
    plan = trial.plan
    for what, other in altered(plan):
        require(plan.fingerprint != other.fingerprint, f"it does not depend on {what}.")
    another = trial.draw(8)
    if plan.to_dict() != another.to_dict():
        require(plan.fingerprint != another.fingerprint, "two different plans share it.")


def check_no_fit_predicts_its_own_rows(trial: Trial) -> None:
    """Check that no tested row was trained on, except in apparent parts.

    Methods without splits are exempt. Training sets that are defined by a distribution exclude the
    tested row, and out-of-bag questions are answered by members that were fitted without it.
    """
    plan = trial.plan
    if not trial.method.splits:
        return
    for q in range(plan.n_questions):
        if plan.without_row[q]:
            continue
        part = plan.parts[int(plan.part[q])]
        seen, _ = plan.train_rows(int(plan.fit[q]))
        both = np.intersect1d(seen, plan.test_rows(q)[0])
        leak = f"question {q} asks fit {plan.fit[q]} about row {both[:1]}, which trained it."
        require(part == "apparent" or not len(both), leak)


CHECKS = (
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


def _numbers(tested: Any) -> list[float]:
    """Return value, standard error and interval, with NaN for missing ones."""
    numbers = [tested.value, tested.read_std_error(), *ends_of(tested.read_interval())]
    return [np.nan if number is None else number for number in numbers]


def _require_same(first: dict[str, Any], second: dict[str, Any], between: str) -> None:
    differ = [key for key in first if first[key] != second.get(key)]
    require(not differ, f"{between} differ in {', '.join(differ)}.")


def _require_close(first: Any, second: Any, what: str) -> None:
    same = np.allclose(first, second, rtol=1e-9, atol=1e-12, equal_nan=True)
    require(same, f"{what}: {first} became {second}.")
