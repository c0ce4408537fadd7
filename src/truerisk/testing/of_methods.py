"""The checks that any method must pass."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from typing import Any, get_args

import numpy as np

from truerisk.core.contracts import Method, Streams, Target
from truerisk.core.errors import Refusal
from truerisk.core.plan.plan import Plan
from truerisk.core.results import RiskEstimate
from truerisk.testing.cases import (
    Case,
    Recorder,
    all_tested,
    bagged,
    content_of,
    estimates,
    evaluate,
    perfect_cases,
    quiet,
    said,
    two_classes,
)
from truerisk.testing.changing import (
    altered,
    frozen,
    permuted_data,
    permuted_plan,
    recoded_plan,
    renamed,
)
from truerisk.testing.checks import Check, check_of, raise_failures, require
from truerisk.testing.processes import said_elsewhere

__all__ = ["check_method", "method_checks"]


def method_checks(method: Method, case: Case | None = None) -> list[Check]:
    """The checks of a method, one by one.

    Parameters
    ----------
    method : Method
    case : Case, optional
        The family, data and loss it is run on, for a method that refuses the usual ones: two
        overlapping classes, two settings of a nearest-mean rule, zero-one loss.

    Returns
    -------
    list of Check
        Each callable without arguments; `check.fact` says what it establishes.

    Examples
    --------
    >>> from truerisk.methods import KFold
    >>> from truerisk.testing import method_checks
    >>> print(method_checks(KFold(5))[0])
    says_what_it_estimates
    """
    return [check_of(function, method, case or two_classes()) for function in CHECKS]


def check_method(method: Method, case: Case | None = None) -> None:
    """Run all checks of a method; one error names each that failed."""
    raise_failures(f"method '{method.word}'", method_checks(method, case))


def check_says_what_it_estimates(method: Method, case: Case) -> None:
    """A method has a word, a target of the vocabulary, and a sentence on its bias."""
    require(bool(method.word.strip()), "the word is empty.")
    require(method.target in get_args(Target), f"target {method.target!r} is not in {Target}.")
    require(bool(method.bias.strip()), "nothing is said about the bias.")


def check_one_estimate_per_candidate(method: Method, case: Case) -> None:
    """Every candidate gets one finite value, or a note; no error is negative or zero."""
    evaluation = evaluate(method, case)
    n = len(evaluation.tested)
    require(n == len(case.family), f"{n} estimates for {len(case.family)} candidates.")
    for tested in all_tested(evaluation):
        spared = not method.rates_all and np.isnan(tested.value) and bool(tested.notes)
        require(spared or bool(np.isfinite(tested.value)), f"the value is {tested.value}.")
        error, interval = tested.read_std_error(), tested.read_interval()
        require(error is None or error > 0, f"the standard error is {error}.")
        if interval is not None:
            require(interval.low <= interval.high, f"the interval {interval} is upside down.")
            require(bool(interval.method), "the interval does not name its method.")


def check_same_seed_same_plan(method: Method, case: Case) -> None:
    """The same data and seed give the same plan."""
    first, second = (_plan(method, case, seed=7).fingerprint for _ in range(2))
    require(first == second, f"two plans of seed 7 differ: {first} and {second}.")


def check_same_plan_same_result(method: Method, case: Case) -> None:
    """The same plan gives the same result, to the last bit."""
    plan = _plan(method, case)
    first, second = (said(evaluate(method, case, plan=plan)) for _ in range(2))
    _require_same(first, second, "two evaluations of one plan")


def check_same_result_in_another_process(method: Method, case: Case) -> None:
    """Another process with the same seed draws the same plan and says the same."""
    here = said(evaluate(method, case, seed=7))
    _require_same(here, said_elsewhere(method, case, 7), "this process and another")


def check_same_result_on_any_executor(method: Method, case: Case) -> None:
    """Fits in this process, in threads or in worker processes give the same result."""
    plan = _plan(method, case)
    here = said(evaluate(method, case, plan=plan))
    with ThreadPoolExecutor(2) as threads:
        there = said(evaluate(method, case, plan=plan, executor=threads))
    _require_same(here, there, "this process and threads")
    there = said(evaluate(method, case, plan=plan, executor=2))
    _require_same(here, there, "this process and two workers")


def check_names_of_classes_do_not_matter(method: Method, case: Case) -> None:
    """Classes under other names, in the same order, give the same plan and the same result."""
    if case.data.classes is None:
        return
    names = [f"class {c:03d}" for c in range(case.data.n_classes)]
    other = replace(case, data=renamed(case.data, names))
    _require_same(said(evaluate(method, case)), said(evaluate(method, other)), "0, 1 and names")


def check_order_of_classes_does_not_matter(method: Method, case: Case) -> None:
    """Classes whose names sort the other way round have the same risks by the same plan."""
    if case.data.classes is None:
        return
    plan = _plan(method, case)
    names = np.arange(case.data.n_classes)[::-1]
    other = replace(case, data=renamed(case.data, names))
    before = _values(method, case, plan)
    after = _values(method, other, recoded_plan(plan, names))
    _require_close(before, after, "classes in reversed order")


def check_order_of_rows_does_not_matter(method: Method, case: Case) -> None:
    """Rows permuted together with the plan have the same risks and the same losses."""
    plan = _plan(method, case)
    order = np.random.default_rng(1).permutation(case.data.n_rows)
    other = replace(case, data=permuted_data(case.data, order))
    moved = permuted_plan(plan, order)
    before, after = evaluate(method, case, plan=plan), evaluate(method, other, plan=moved)
    for old, new in zip(all_tested(before), all_tested(after), strict=True):
        _require_close(_numbers(old), _numbers(new), "permuted rows")
        if old.losses is not None and new.losses is not None:
            assert old.loss_rows is not None and new.loss_rows is not None
            back = np.argsort(order[new.loss_rows])
            _require_close(old.losses[np.argsort(old.loss_rows)], new.losses[back], "their losses")


def check_perfect_rule_has_risk_0(method: Method, case: Case) -> None:
    """A rule that is never wrong has risk 0; bags of it, where a method serves nothing else."""
    if not method.perfect_is_0:  # it smooths, or charges for more than errors, and says so
        return
    usual = perfect_cases(case.data)
    served = _perfect(method, usual) or _perfect(method, [bagged(one) for one in usual])
    require(served, "the method refused both classes and numbers.")


def _perfect(method: Method, cases: list[Case]) -> bool:
    """Whether some case was served; its risk must be 0."""
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


def check_X_and_y_stay_as_they_were(method: Method, case: Case) -> None:  # noqa: N802
    """Neither X nor y nor the class codes are written to."""
    before = frozen(case.data)
    evaluate(method, case)
    for name in ("X", "y", "classes", "codes"):
        old, new = getattr(before, name), getattr(case.data, name)
        if isinstance(old, np.ndarray):
            require(old.tobytes() == new.tobytes(), f"{name} was written to.")


def check_takes_read_only_arrays(method: Method, case: Case) -> None:
    """Data in memory that cannot be written to give the same result."""
    locked = replace(case, data=frozen(case.data))
    _require_same(said(evaluate(method, case)), said(evaluate(method, locked)), "read-only data")


def check_answers_stay_as_they_were(method: Method, case: Case) -> None:
    """Reducing answers does not write to them: others may read them."""
    recorder = Recorder()
    evaluate(method, case, engine=recorder)
    for answers, before in recorder.given:
        require(content_of(answers) == before, "the answers were written to.")


def check_estimates_survive_json(method: Method, case: Case) -> None:
    """A result written as JSON and read again says the same."""
    for estimate in estimates(method, case, evaluate(method, case)):
        back = RiskEstimate.from_json(estimate.to_json())
        _require_same(estimate.to_dict(), back.to_dict(), "a result and its JSON")
        for each in fields(estimate):
            if not each.compare:  # what is not written
                continue
            old, new = getattr(estimate, each.name), getattr(back, each.name)
            if isinstance(old, np.ndarray):
                unknown = old.dtype.kind == "f"
                same = old.dtype.kind == new.dtype.kind
                same = same and np.array_equal(old, new, equal_nan=unknown)
            else:
                same = old == new
            require(same, f"{each.name} came back as {new!r}, was {old!r}.")


def check_plan_survives_json(method: Method, case: Case) -> None:
    """A plan written as JSON and read again has the same fingerprint and gives the same result."""
    plan = _plan(method, case)
    back = Plan.from_dict(json.loads(json.dumps(plan.to_dict())))
    require(plan.fingerprint == back.fingerprint, "its fingerprint came back otherwise.")
    first, second = (said(evaluate(method, case, plan=p)) for p in (plan, back))
    _require_same(first, second, "a plan and its JSON")


def check_fingerprint_changes_with_the_plan(method: Method, case: Case) -> None:
    """Whatever is changed in a plan changes its fingerprint."""
    plan = _plan(method, case)
    for what, other in altered(plan):
        require(plan.fingerprint != other.fingerprint, f"it does not depend on {what}.")
    another = _plan(method, case, seed=8)
    if plan.to_dict() != another.to_dict():
        require(plan.fingerprint != another.fingerprint, "two different plans share it.")


def check_no_fit_is_asked_about_its_own_rows(method: Method, case: Case) -> None:
    """No tested row was trained on, unless the method splits nothing or the part is "apparent".

    Train sets that are drawn by a law are those without the tested row, and questions out of bag
    are answered by members that were fitted without it.
    """
    plan = _plan(method, case)
    if not method.splits:
        return
    for q in range(plan.n_questions):
        bagged = plan.out_of_bag is not None and q in plan.out_of_bag
        if bagged or plan.law_of(int(plan.fit[q])) is not None:
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
    check_no_fit_is_asked_about_its_own_rows,
)


def _plan(method: Method, case: Case, seed: int = 0) -> Plan:
    with quiet():
        method.check(case.data, method.loss_of(case.data, case.loss, asked=False))
        return method.plan(case.data, Streams(seed))


def _values(method: Method, case: Case, plan: Plan) -> list[float]:
    return [tested.value for tested in all_tested(evaluate(method, case, plan=plan))]


def _numbers(tested: Any) -> list[float]:
    """Value, standard error and interval, NaN for what is not there."""
    interval = tested.read_interval()
    ends = (None, None) if interval is None else (interval.low, interval.high)
    numbers = [tested.value, tested.read_std_error(), *ends]
    return [np.nan if number is None else number for number in numbers]


def _require_same(first: dict[str, Any], second: dict[str, Any], between: str) -> None:
    differ = [key for key in first if first[key] != second.get(key)]
    require(not differ, f"{between} differ in {', '.join(differ)}.")


def _require_close(first: Any, second: Any, what: str) -> None:
    same = np.allclose(first, second, rtol=1e-9, atol=1e-12, equal_nan=True)
    require(same, f"{what}: {first} became {second}.")
