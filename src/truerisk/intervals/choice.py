"""Names of intervals, and the choice of the interval that the predictions for a plan allow."""

from __future__ import annotations

from typing import Any

import numpy as np

from truerisk.contracts import Method, Terms
from truerisk.core.arguments import check_has_name, mention, refuse_class
from truerisk.core.errors import BadArgument, Refusal
from truerisk.core.registry import Registry, parse_registry_table
from truerisk.data.data import Data
from truerisk.intervals.form import IntervalForm, dependence_interval_name
from truerisk.losses.loss import Loss
from truerisk.plan.leaks import ORDERED_SPLITS_REASON, find_split_order
from truerisk.plan.plan import Plan
from truerisk.results.interval import PLAN_DEPENDENT_BASES, Basis

registry = Registry(
    "interval",
    parse_registry_table(
        "truerisk.intervals",
        """
    wald  classical:Wald  normal, from rows that were tested once
    corrected-t  classical:CorrectedT  t, from splits; pays for shared training rows
    conservative-z  refitted:ConservativeZ  normal, from pairs of disjoint halves; for any loss
    ncv  refitted:NestedNormal  normal, from nested cross-validation
    beta-ncv  refitted:NestedBeta  Beta with the spread of nested cross-validation
    hac  in_time:HAC  t, of losses that depend on those before them
    bbc  bootstrapped_choice:Percentiles  bootstrapped losses, the choice included
    beta-cv  calibrated:BetaCV  Beta, rows counted for less as the battery says
    log-cv  calibrated:LogCV  the same for losses without a bound, on the log scale
    logit-cv  calibrated:LogitCV  the same for AUC, F1 and such scores, on the logit scale
    spatial  in_space:Spatial  means over the region, for losses that go together in space
    bootstrap-.632  refitted:Bootstrap632  normal, of bootstrap methods
    beta  posterior:BetaPosterior  posterior of an error rate, flat prior
    """,
    ),
)


user_interval_forms: dict[str, IntervalForm[Any]] = {}
"""Intervals that a user defined and passed, by the names that results use for them."""


def names() -> list[str]:
    """Return the names that the argument `interval=` accepts, with those of user-defined intervals.

    Returns
    -------
    list of str
        The names.

    See Also
    --------
    truerisk.intervals.as_form : Return the interval with a name.

    Examples
    --------
    >>> import truerisk as tr
    >>> "beta-cv" in tr.intervals.names()
    True
    """
    return [*registry, *user_interval_forms]


def as_form(given: str | IntervalForm[Any]) -> IntervalForm[Any]:
    """Return the interval with this name, or register and return a user-defined interval.

    Parameters
    ----------
    given : str or IntervalForm
        The argument `interval=` of a verb.

    Returns
    -------
    IntervalForm
        The interval.

    See Also
    --------
    truerisk.intervals.names : List the names of intervals.
    truerisk.extend.IntervalForm : The class from which intervals derive.

    Examples
    --------
    >>> import truerisk as tr
    >>> tr.intervals.as_form("beta-cv").name
    'beta-cv'
    """
    refuse_class("interval", given)
    if isinstance(given, IntervalForm):
        check_has_name("interval", given)
        if given.name in registry:
            raise BadArgument(f"interval '{given.name}' is one of ours: give yours another word.")
        user_interval_forms[given.name] = given
        return given
    if not isinstance(given, str):
        raise BadArgument(
            f"{mention('interval', given)} is no interval: use one of {', '.join(registry)}, or an "
            "IntervalForm of your own."
        )
    return user_interval_forms[given] if given in user_interval_forms else registry.load(given)()


def choose_interval(
    requested_name: str | None,
    loss: Loss,
    data: Data,
    method: Method,
    plan: Plan,
    *,
    calibrated: bool = False,
) -> str | None:
    """Return the name of the requested interval, or of the calibrated one if `calibrated` is true.

    None leaves the interval to the method. If the requested interval is not available, it is
    refused before any fit is made. The calibrated interval (docs/intervals-measured.md, decision
    15) takes rows, or clusters of rows, as independent, so that there is none for rows that are
    tested in the order of time.
    """
    if requested_name is None and not calibrated:
        return None
    evidence_kinds, testing_method = provided_evidence(method, data, plan), method.outer_method
    provider = f"method '{testing_method.name}' (it offers {{}})"
    averaging_rule = getattr(testing_method, "average_of", None)
    is_pooled = averaging_rule is not None and averaging_rule(loss) == "pooled"
    if is_pooled and not loss.per_row and not loss.one_scale:
        # A pooled score ranks the predictions of several models together.
        evidence_kinds &= {Basis.LOSSES, Basis.SPLITS}
        provider = "a score of all folds at once"
    if requested_name is None:
        name = None if testing_method.respects_time else calibrated_interval_name(loss, data)
        return None if name is None or as_form(name).lacking(evidence_kinds) is not None else name
    interval_form = as_form(requested_name)
    if testing_method.respects_time and Basis.TIMES not in interval_form.needs:
        raise Refusal(
            f"interval '{requested_name}' needs rows that do not depend on each other, which "
            f"method '{testing_method.name}' (it offers 'hac') cannot give: it tests rows "
            "in the order of time."
        )
    if interval_form.lacking(evidence_kinds) is not None:
        allowed_names = ", ".join(
            f"'{name}'" for name in available_interval_names(method, data, plan)
        )
        interval_form.require(evidence_kinds, provider.format(allowed_names or "no interval"))
    interval_form.check(data, loss)
    return requested_name


def provided_evidence(method: Method, data: Data, plan: Plan) -> frozenset[Basis]:
    """Return the kinds of evidence that the predictions of a method for this plan provide.

    The method determines the kind of its predictions; the plan determines how often and in which
    order rows are tested. For a method that tunes inside, both are those of the testing part.
    """
    if method.tunes_inside:
        outer_plan, method = plan.part_named("outer"), method.outer_method
        plan = outer_plan if outer_plan.n_questions else plan
    n_tests = np.bincount(plan.positions[0], minlength=plan.n_rows)
    evidence_kinds = set(method.gives)
    if n_tests.max(initial=0) <= 1:
        evidence_kinds.add(Basis.ONCE)
    is_untested = n_tests == 0
    # Rows of an outer fold are in no inner test set, but no inner fit is trained on them either.
    trains_on_untested_rows = is_untested.any() and any(
        is_untested[plan.train_rows(int(fit_number))[0]].any() for fit_number in np.unique(plan.fit)
    )
    if np.ptp(n_tests[~is_untested]) == 0 and not trains_on_untested_rows:
        evidence_kinds.add(Basis.EQUALLY_OFTEN)
    if method.respects_time or data.time is not None or find_split_order(plan) == "of rows":
        evidence_kinds.add(Basis.TIMES)
    return frozenset(evidence_kinds)


def available_interval_names(method: Method, data: Data, plan: Plan) -> list[str]:
    """Return the names of the intervals that the predictions of a method for this plan allow."""
    evidence_kinds = provided_evidence(method, data, plan)
    candidate_names = ["hac"] if method.outer_method.respects_time else registry
    return [name for name in candidate_names if as_form(name).lacking(evidence_kinds) is None]


def calibrated_interval_name(loss: Loss, data: Data) -> str | None:
    """Return the interval that was calibrated for this loss and such rows, or None."""
    if data.dependent:
        return dependence_interval_name(loss, data, data.time is not None)
    if not loss.tells_influences or loss.lower != 0 or loss.grows_with_few_rows:
        return None
    bounded_interval_name = "beta-cv" if loss.per_row else "logit-cv"
    return "log-cv" if loss.upper is None else bounded_interval_name


def adapt_method_to_interval(method: Method, name: str) -> Method:
    """Return the method that makes the fits that an interval needs; by default the same method.

    For K-fold words it is nested cross-validation or paired halves, and for `oob` the bootstrap.
    """
    missing_evidence = as_form(name).lacking(method.gives | PLAN_DEPENDENT_BASES)
    return (None if missing_evidence is None else method.giving(missing_evidence, name)) or method


def resolve_interval(
    plan: Plan,
    data: Data,
    loss: Loss,
    interval_terms: Terms,
    refusal_reason: str | None,
    default_name: str | None,
) -> tuple[str | None, str | None, bool]:
    """Return the interval's name, why there is none, and whether rows are in the order of time.

    The name is the one in the terms, else the one that the dependence of the rows requires, else
    `default_name`. None stands for the interval of independent rows.
    """
    requested_name = interval_terms.interval if interval_terms.with_errors else None
    is_in_time_order = data.time is not None
    time_order = find_split_order(plan) if interval_terms.with_errors and loss.per_row else None
    if time_order is not None:
        is_in_time_order = is_in_time_order or time_order == "of rows"
        if not is_in_time_order or requested_name not in (None, "hac"):
            refusal_reason = refusal_reason or ORDERED_SPLITS_REASON
    if requested_name is not None and refusal_reason is not None:
        raise Refusal(
            f"interval '{requested_name}' is not available from this method: {refusal_reason}"
        )
    return (
        requested_name or dependence_interval_name(loss, data, is_in_time_order) or default_name,
        refusal_reason,
        is_in_time_order,
    )
