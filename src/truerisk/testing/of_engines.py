"""Conformance tests of engines, which compute the predictions for a plan of fits."""

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
from truerisk.plan.extras.model_facts import ModelFacts, get_degrees_of_freedom, get_linear_rules
from truerisk.plan.plan import Plan
from truerisk.testing import strategies
from truerisk.testing.brute_force import (
    degrees_of_freedom_by_brute_force,
    linear_rules_by_brute_force,
)
from truerisk.testing.cases import read_only_data
from truerisk.testing.comparing import (
    Check,
    HypothesisEffort,
    RandomTest,
    make_check,
    require,
    require_same_answers,
    require_same_rules,
    require_valid_answers,
    run_all_checks,
)
from truerisk.testing.situations import (
    accepted_engine_inputs,
    default_families,
    find_weight_parameter,
    fixed_engine_inputs,
    run_engine,
)

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


def engine_checks(
    engine: Engine, *families: Family, examples: int = 25, shrink: bool = True
) -> list[Check]:
    """Return the conformance tests of an engine, as callables, for every given family.

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
    tested_families, effort = families or default_families(), HypothesisEffort(examples, shrink)
    checks = [make_check(check_answers_something, engine, tested_families)]
    for family in tested_families:
        checks += _make_random_checks(engine, family, effort)
        checks += [
            make_check(check_function, engine, family, check_label=family.name)
            for check_function in FIXED_CHECKS
        ]
    return checks


def check_engine(
    engine: Engine, *families: Family, examples: int = 25, shrink: bool = True
) -> None:
    """Run all conformance tests of an engine, and raise one error that names each failed test.

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
    run_all_checks(f"engine '{engine.name}'", checks)


def check_answers_something(engine: Engine, families: Sequence[Family]) -> None:
    """Check that the engine accepts K-fold, leave-one-out, hold-out or apparent plans."""
    is_any_accepted = any(accepted_engine_inputs(engine, family) for family in families)
    require(
        is_any_accepted, "it refuses all that the checks ask: name the families it is made for."
    )


# ---------------------------------------------------------------- checks on random plans


def _nested_or_paired_plans(data: Data) -> SearchStrategy[Plan]:
    n_rows = data.n_rows
    return strategies.import_hypothesis().strategies.one_of(
        strategies.nested_plans(n_rows), strategies.pair_plans(n_rows)
    )


def _folds(data: Data) -> SearchStrategy[Plan]:
    return strategies.fold_plans(data.n_rows)


BRUTE_FORCE_CHECKS: Mapping[
    str, tuple[str, Callable[[Family, HypothesisEffort], RandomTest | None]]
] = {
    "folds": (
        "On K-fold and leave-one-out it answers what fitting one by one answers.",
        lambda family, effort: RandomTest(family, _folds, effort),
    ),
    "subsets": (
        "On any training rows, with several questions per fit, it equals fitting one by one.",
        lambda family, effort: RandomTest(
            family, lambda d: strategies.subset_plans(d.n_rows), effort
        ),
    ),
    "nested_parts": (
        "On folds inside the training rows of folds, and in pairs, it equals fitting one by one.",
        lambda family, effort: RandomTest(family, _nested_or_paired_plans, effort),
    ),
    "copies": (
        "Rows that a training set holds several times count several times.",
        lambda family, effort: RandomTest(
            family, lambda d: strategies.bootstrap_plans(d.n_rows), effort
        ),
    ),
    "labels": (
        "A row that a fit is shown with another class is learned with that class.",
        lambda family, effort: (
            RandomTest(family, strategies.label_flip_plans, effort)
            if family.task == "classification"
            else None
        ),
    ),
    "ties": (
        "Equal cells and equal rows, also on both sides of a split, change nothing.",
        lambda family, effort: RandomTest(family, _folds, effort, has_ties=True),
    ),
    "weights": (
        "Sample weights reach every fit with their rows.",
        lambda family, effort: (
            None
            if find_weight_parameter(family) is None
            else RandomTest(family, _folds, effort, has_weights=True)
        ),
    ),
}
"""Kinds of plans on which engines are compared with brute force, each with the fact it proves."""


def _make_random_checks(
    engine: Engine, family: Family, effort: HypothesisEffort
) -> Iterator[Check]:
    """Yield checks on random plans against brute force and against the generic engine."""
    for plan_kind, (check_fact, make_random_test) in BRUTE_FORCE_CHECKS.items():
        run_check = partial(_compare_with_brute_force, make_random_test, engine, family, effort)
        yield Check(f"equals_brute_force_on_{plan_kind}[{family.name}]", check_fact, run_check)
    check_fact = "On any plan it says what the generic engine says, or refuses."
    random_test = RandomTest(family, strategies.any_plans, effort, has_ties=True)
    run_check = partial(random_test.compare_with_engine, Generic(error="warn"), engine)
    yield Check(f"equals_the_generic_engine[{family.name}]", check_fact, run_check)


def _compare_with_brute_force(
    make_random_test: Callable[[Family, HypothesisEffort], RandomTest | None],
    engine: Engine,
    family: Family,
    effort: HypothesisEffort,
) -> None:
    random_test = make_random_test(family, effort)
    if random_test is not None:
        random_test.compare_with_brute_force(engine)


# ---------------------------------------------------------------- checks on fixed data and plans


def check_answers_as_the_contract_says(engine: Engine, family: Family) -> None:
    """Check that shapes, types, the number of fits and the seconds are as the contract demands."""
    for engine_input in accepted_engine_inputs(engine, family):
        require_valid_answers(
            run_engine(engine, engine_input),
            engine,
            engine_input,
            n_answer_rows=len(engine_input.family),
        )


def check_only_is_honoured(engine: Engine, family: Family) -> None:
    """Check that a run with one candidate per fit returns only that candidate's predictions."""
    for engine_input in accepted_engine_inputs(engine, family):
        candidate_by_fit = np.arange(engine_input.plan.n_fits) % len(family)
        all_answers, chosen_answers = (
            run_engine(engine, engine_input),
            run_engine(engine, engine_input, only=candidate_by_fit),
        )
        require_valid_answers(chosen_answers, engine, engine_input, n_answer_rows=1)
        for question_number in range(engine_input.plan.n_questions):
            candidate = candidate_by_fit[engine_input.plan.fit[question_number]]
            has_same_predictions = np.allclose(
                all_answers.for_question(question_number)[candidate],
                chosen_answers.for_question(question_number)[0],
                rtol=1e-9,
                equal_nan=True,
            )
            require(
                has_same_predictions,
                f"question {question_number} was not answered by candidate {candidate}.",
            )


def check_unrequested_answers_are_left_out(engine: Engine, family: Family) -> None:
    """Check that an engine that skips unrequested fits predicts the same in the requested ones."""
    if not engine.leaves_out:
        return
    for engine_input in accepted_engine_inputs(engine, family):
        is_fit_requested = np.zeros((len(family), engine_input.plan.n_fits), dtype=bool)
        is_fit_requested.flat[::2] = True
        all_answers, requested_answers = (
            run_engine(engine, engine_input),
            run_engine(engine, engine_input, requested=is_fit_requested),
        )
        require(
            requested_answers.n_fits == is_fit_requested.sum(),
            f"n_fits is {requested_answers.n_fits}, not {is_fit_requested.sum()}.",
        )
        require(
            np.array_equal(requested_answers.made, is_fit_requested),
            "it does not say which fits it made.",
        )
        require_same_answers(
            all_answers.part(is_fit_requested), requested_answers, "a part and the whole"
        )


def check_same_answers_twice(engine: Engine, family: Family) -> None:
    """Check that two runs with the same seed give the same predictions."""
    for engine_input in accepted_engine_inputs(engine, family):
        require_same_answers(
            run_engine(engine, engine_input), run_engine(engine, engine_input), "two runs"
        )


def check_same_answers_on_any_executor(engine: Engine, family: Family) -> None:
    """Check that this process, threads and worker processes give the same predictions."""
    for engine_input in accepted_engine_inputs(engine, family)[:1]:
        answers_in_process = run_engine(engine, engine_input)
        with ThreadPoolExecutor(2) as thread_pool:
            require_same_answers(
                answers_in_process,
                run_engine(engine, engine_input, executor=thread_pool),
                "this process and threads",
            )
        require_same_answers(
            answers_in_process,
            run_engine(engine, engine_input, executor=2),
            "this process and two workers",
        )


def check_order_of_candidates_does_not_matter(engine: Engine, family: Family) -> None:
    """Check that the order of the candidates changes no prediction, not even a random one."""
    reversed_family = replace(family, candidates=family.candidates[::-1])
    for engine_input in accepted_engine_inputs(engine, family):
        original_answers, reversed_answers = (
            run_engine(engine, engine_input),
            run_engine(engine, replace(engine_input, family=reversed_family)),
        )
        reordered_answers = replace(
            reversed_answers,
            values=reversed_answers.values[::-1],
            answered=reversed_answers.answered[::-1],
        )
        require_same_answers(
            original_answers, reordered_answers, "candidates in this and in reversed order"
        )


def _iterate_model_facts(
    engine: Engine, family: Family, fact_name: str, compute_by_brute_force: Callable[..., Any]
) -> Iterator[tuple[Any, Answers]]:
    """Yield degrees of freedom or linear rules, by brute force and with the engine's predictions.

    `fact_name` is a field of ModelFacts, "freedom" or "rules". The plan requests it for every other
    test set.
    """
    for engine_input in accepted_engine_inputs(engine, family):
        # Every other test set requests the fact, so the check also sees fits without a request.
        requested_questions: Any = np.arange(0, engine_input.plan.n_questions, 2, dtype=np.int32)
        engine_input = replace(
            engine_input,
            plan=replace(engine_input.plan, extra=ModelFacts(**{fact_name: requested_questions})),
        )
        refusal = engine.reason_not_served(engine_input.plan) or engine.refuse(
            engine_input.family, engine_input.data, engine_input.plan, engine_input.request
        )
        if refusal is None:
            try:
                expected_fact = compute_by_brute_force(
                    engine_input.family, engine_input.data, engine_input.plan, seed=3
                )
            except Refusal:
                continue  # The model has no formula, or is not linear.
            yield expected_fact, run_engine(engine, engine_input)


def check_degrees_of_freedom_are_the_models_own(engine: Engine, family: Family) -> None:
    """Check that degrees of freedom, if supported, are those of the fitted models."""
    for expected_degrees, engine_answers in _iterate_model_facts(
        engine, family, "freedom", degrees_of_freedom_by_brute_force
    ):
        engine_degrees = get_degrees_of_freedom(engine_answers)
        has_expected_degrees = engine_degrees is not None and np.allclose(
            engine_degrees, expected_degrees, rtol=1e-8, equal_nan=True
        )
        require(
            has_expected_degrees,
            f"degrees of freedom are {engine_degrees} and not {expected_degrees}.",
        )


def check_linear_rules_are_the_models_own(engine: Engine, family: Family) -> None:
    """Check that coefficients of linear models, if supported, are those of the fitted models."""
    for expected_rules, engine_answers in _iterate_model_facts(
        engine, family, "rules", linear_rules_by_brute_force
    ):
        require_same_rules(
            expected_rules, get_linear_rules(engine_answers), "the models and the engine"
        )


def check_X_and_y_stay_as_they_were(engine: Engine, family: Family) -> None:  # noqa: N802
    """Check that neither X nor y nor the class codes are modified."""
    for engine_input in accepted_engine_inputs(engine, family):
        data_before = read_only_data(engine_input.data)
        run_engine(engine, engine_input)
        for array_name in ("X", "y", "classes", "codes"):
            old_array, new_array = (
                getattr(data_before, array_name),
                getattr(engine_input.data, array_name),
            )
            require(
                old_array is None or old_array.tobytes() == new_array.tobytes(),
                f"{array_name} was written to.",
            )


def check_takes_read_only_arrays(engine: Engine, family: Family) -> None:
    """Check that data in read-only memory give the same predictions."""
    for engine_input in accepted_engine_inputs(engine, family):
        read_only_input = replace(engine_input, data=read_only_data(engine_input.data))
        require_same_answers(
            run_engine(engine, engine_input),
            run_engine(engine, read_only_input),
            "read-only data and others",
        )


def check_refusals_are_sentences(engine: Engine, family: Family) -> None:
    """Check that `refuse` returns None or one line with a sentence that ends with a full stop."""
    for engine_input in fixed_engine_inputs(family):
        refusal_reason: Any = engine.refuse(
            engine_input.family, engine_input.data, engine_input.plan, engine_input.request
        )
        if refusal_reason is not None:
            is_sentence = (
                isinstance(refusal_reason, str)
                and len(refusal_reason.split()) > 1
                and "\n" not in refusal_reason
            )
            require(
                is_sentence and refusal_reason.endswith("."), f"{refusal_reason!r} is no sentence."
            )


def check_refusals_do_not_waver(engine: Engine, family: Family) -> None:
    """Check that repeated calls of `refuse` return the same reason."""
    for engine_input in fixed_engine_inputs(family):
        distinct_reasons = {
            engine.refuse(
                engine_input.family, engine_input.data, engine_input.plan, engine_input.request
            )
            for _ in range(3)
        }
        require(len(distinct_reasons) == 1, f"it said {sorted(map(str, distinct_reasons))}.")


FIXED_CHECKS: tuple[Callable[[Engine, Family], None], ...] = (
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
