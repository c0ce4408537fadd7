"""Compute the honest risk of a search at each audit level, also with related rows kept apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from truerisk.auditing.mixed_splits import MixedSplits, OrderOfRows, find_mixed_splits
from truerisk.auditing.replay import (
    ReplayedSearch,
    bootstrap_corrected_risk,
    refuse_bootstrap,
    replay_findings,
    replay_search,
)
from truerisk.contracts import Method, Streams, Terms
from truerisk.core.errors import BadData, FitFailed, Refusal
from truerisk.core.family import Family
from truerisk.core.formats import format_number
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.data.data import Data
from truerisk.estimation.problem import EstimationProblem, problem_from_arguments
from truerisk.estimation.run import compute_risks, to_procedure_estimate
from truerisk.losses.loss import Loss
from truerisk.losses.loss_words import as_loss
from truerisk.methods.parts.procedure import add_winners, candidate_of_each_fit, make_winners
from truerisk.methods.words import as_method, name_default_method
from truerisk.plan.answers import Answers, Ask
from truerisk.plan.plan import Plan
from truerisk.results.evaluation import Evaluation, Target, Tested
from truerisk.results.finding import Finding
from truerisk.results.interval import Basis, are_tied
from truerisk.results.results import RiskEstimate
from truerisk.search.claim import Claim, ScoreScale
from truerisk.search.related_rows import RelationKind
from truerisk.search.repeat import estimate_pairs_risk, repeat_search


@frozen(eq=False)
class CorrectedRisk:
    """Corrected risk of a search: `honest_risk`, or the `reason` why there is none.

    If the search's splits put related rows into training and test sets, `choice_risk` is the claim
    corrected for the choice alone, and `mixed_kind` says which kind of rows. `choice_risk` is None
    if the splits do not, or if only `honest_risk` was computed.
    """

    honest_risk: RiskEstimate | None
    choice_risk: RiskEstimate | None = None
    mixed_kind: RelationKind | None = None
    reason: str = ""
    findings: tuple[Finding, ...] = ()


@frozen(eq=False)
class AuditOptions:
    """Options of an audit; `row_order` is the order of the rows, if the caller knows it.

    `checks` says whether rows and columns are checked.
    """

    level: Any
    outer: Any
    replicates: int
    run_options: Mapping[str, Any]
    row_order: OrderOfRows | None = None
    checks: bool = True
    positive: Any = None


def correct_claim(
    search: Any,
    claim: Claim,
    scale: ScoreScale,
    problem: EstimationProblem,
    plan: Plan | None,
    audit_options: AuditOptions,
) -> CorrectedRisk:
    """Compute the honest risk of a search at the requested audit level.

    If the search's splits mix related rows, the risk is computed with related rows kept apart.

    Relations that the user has specified (times, places, groups) are respected in any case. Dates
    by which a frame is sorted are respected only if the risk becomes much larger. Numbers that may
    not be times are then a finding, and change no risk.
    """
    choice_risk, replayed_search = None, None
    findings: list[Finding] = []
    level, outer, run_options = audit_options.level, audit_options.outer, audit_options.run_options
    if level == "bbc" and claim.curve is None:
        refuse_bootstrap(scale)
    if level in ("bbc", "pairs") and plan is not None:
        replayed_search, findings = _replay_and_compare(claim, scale, problem, plan, level)
    if level == "bbc" and replayed_search is not None:
        choice_risk = bootstrap_corrected_risk(
            claim, replayed_search, problem, audit_options.replicates
        )
    if level == "pairs":
        known_predictions = None if replayed_search is None else replayed_search.answers
        choice_risk = estimate_pairs_risk(
            search, claim, scale, problem.data, run_options, known_predictions
        )
    test_nested = partial(_test_nested, search, claim, scale, problem, run_options)
    mixed_rows = (
        None if plan is None else find_mixed_splits(problem.data, plan, audit_options.row_order)
    )
    separated_rows_risk: RiskEstimate | str = ""
    if mixed_rows is not None:
        separated_rows_risk = risk_with_rows_kept_apart(
            mixed_rows, claim, scale, replayed_search, run_options
        )
        related_row_findings = list(
            findings_on_related_rows(mixed_rows, separated_rows_risk, claim, scale)
        )
        if not mixed_rows.is_given_by_user and not (related_row_findings and mixed_rows.has_times):
            mixed_rows = None
        elif level == "pairs" and not isinstance(separated_rows_risk, str):
            # The setting for a test set must not be chosen by the losses of the search: its models
            # were trained on this test set, so the choice would be optimistic.
            separated_rows_risk = _estimate_or_reason(partial(test_nested, mixed_rows))
            related_row_findings = list(
                findings_on_related_rows(mixed_rows, separated_rows_risk, claim, scale)
            )
            # HonestSearchCV may have kept the rows apart itself, and then corrected for both.
            if choice_risk is not None and _is_same_test(choice_risk, separated_rows_risk):
                choice_risk = None
        findings += related_row_findings
    if level == "nested":
        choice_risk = test_nested(mixed_rows, outer)
        if mixed_rows is not None and (
            outer is None or not _mixes_related_rows(outer, mixed_rows, problem)
        ):
            return CorrectedRisk(choice_risk, mixed_kind=mixed_rows.kind, findings=tuple(findings))
    if mixed_rows is None:
        return CorrectedRisk(choice_risk, findings=tuple(findings))
    if isinstance(separated_rows_risk, str):
        return CorrectedRisk(
            None, choice_risk, mixed_rows.kind, separated_rows_risk, tuple(findings)
        )
    return CorrectedRisk(
        separated_rows_risk, choice_risk, mixed_rows.kind, findings=tuple(findings)
    )


def _replay_and_compare(
    claim: Claim, scale: ScoreScale, problem: EstimationProblem, plan: Plan, level: str
) -> tuple[ReplayedSearch | None, list[Finding]]:
    """Replay the search on its own splits, and return findings if its scores are not reproduced.

    At level "pairs" the replay may be None: it serves as a check, and saves fits. The bootstrap of
    level "bbc" needs it.
    """
    if level == "pairs" and not scale.is_mean_over_rows and scale.test_set_loss is not None:
        problem = replace(problem, loss=as_loss(scale.test_set_loss, problem.data))
    try:
        replayed_search = replay_search(claim, scale, problem, plan)
    except Refusal:
        if level == "bbc":
            raise
        return None, []
    reseeded_problem = replace(problem, seed=problem.seed + 1)
    replay_again = partial(replay_search, claim, scale, reseeded_problem, plan)
    return replayed_search, replay_findings(claim, scale, replayed_search, replay_again)


def _test_nested(
    search: Any,
    claim: Claim,
    scale: ScoreScale,
    problem: EstimationProblem,
    run_options: Mapping[str, Any],
    mixed_rows: MixedSplits | None,
    outer: Any = None,
) -> RiskEstimate:
    """Test the whole search in outer splits, which by default keep related rows apart."""
    claim.refuse_other_rows(problem.data)
    data = problem.data
    if outer is None and mixed_rows is not None:
        outer, data = mixed_rows.method, mixed_rows.data
    elif outer is None and data.dependent:
        outer = name_default_method(data)
    (y,) = data.targets(data.y)
    return repeat_search(search, claim, scale, data.X, y, outer, {**run_options, "time": data.time})


def _mixes_related_rows(outer: Any, mixed_rows: MixedSplits, problem: EstimationProblem) -> bool:
    """Return True if the requested outer splits put related rows into training and test sets."""
    data = mixed_rows.data
    return find_mixed_splits(data, as_method(outer).plan(data, Streams(problem.seed))) is not None


def _is_same_test(risk: RiskEstimate, other: RiskEstimate | str) -> bool:
    """Return True if two risks are from the same method and have the same value."""
    return not isinstance(other, str) and (risk.method, risk.value) == (other.method, other.value)


MIN_RELATIVE_INCREASE = 0.1  # A smaller relative increase of the risk is not reported.
MIN_INCREASE_IN_STD_ERRORS = (
    2.0  # An increase of the risk within this many standard errors may be chance.
)
# If times are guessed and neighbouring rows differ, an increase of the risk within this many
# standard errors may be chance.
MIN_STD_ERRORS_FOR_GUESSED_TIMES = 4.0

SINGLE_CHOICE_NOTE = (
    "tested is the setting that the search chose on all rows: the choice is not corrected for. "
    "level='nested' does that."
)


@frozen(eq=False)
class ChoiceWithoutTestRows(Method):
    """Method that tests, in each split of `outer`, a setting chosen without that split's test rows.

    The setting with the smallest loss in `replayed_search` is chosen. The search compared its
    settings with splits of its own, which mix related rows: only the choice is based on them. It is
    slightly optimistic, since the models that gave these losses were trained on the test rows of
    `outer`. Without `replayed_search` each split tests setting `best_candidate`.
    """

    outer: Method
    best_candidate: int
    replayed_search: ReplayedSearch | None = None
    data: Data | None = None
    target: ClassVar[Target] = "Err"

    @property
    @override
    def gives(self) -> frozenset[Basis]:  # type: ignore[override]
        return self.outer.gives

    @property
    @override
    def name(self) -> str:
        return f"{self.outer.name}, chosen {'without each' if self.replayed_search else 'once'}"

    @property
    @override
    def bias(self) -> str:
        return self.outer.bias

    @property
    @override
    def respects_time(self) -> bool:  # type: ignore[override]
        return self.outer.respects_time

    @override
    def plan(self, data: Data, streams: Streams) -> Plan:
        return self.outer.plan(data, streams)

    @override
    def evaluate(self, ask: Ask, data: Data, loss: Loss, plan: Plan, terms: Terms) -> Evaluation:
        test_rows = [plan.test_rows(test_set)[0] for test_set in range(plan.n_questions)]
        chosen_settings = np.array([self._choose_setting(rows) for rows in test_rows])
        predictions = ask(plan, only=candidate_of_each_fit(plan, chosen_settings))
        risk = self.reduce(predictions, data, loss, terms)[0]
        evaluation = Evaluation(plan, (risk,), predictions.n_fits, answers=predictions)
        return add_winners(evaluation, risk, make_winners(chosen_settings, ()))

    @override
    def reduce(self, answers: Answers, data: Data, loss: Loss, terms: Terms) -> list[Tested]:
        return list(self.outer.reduce(answers, data, loss, terms))

    def _choose_setting(self, test_rows: np.ndarray) -> int:
        """Return the setting with the smallest loss on all rows except `test_rows`.

        If several settings are tied, the search's own choice is preferred.
        """
        if self.replayed_search is None:
            return self.best_candidate
        risks = self.replayed_search.risks_without_rows(test_rows, self.data)
        # All risks are NaN if, without these rows, no test set of the search has both classes.
        if np.isnan(risks).all():
            return self.best_candidate
        is_smallest = are_tied(risks, np.nanmin(risks))
        return (
            self.best_candidate if is_smallest[self.best_candidate] else int(is_smallest.argmax())
        )


def risk_with_rows_kept_apart(
    mixed_rows: MixedSplits,
    claim: Claim,
    scale: ScoreScale,
    replayed_search: ReplayedSearch | None,
    run_options: Any,
) -> RiskEstimate | str:
    r"""Return the risk of the choice in splits that keep related rows apart, or why it is unknown.

    .. math:: \frac{1}{K} \sum_{k=1}^{K} \frac{1}{|T_k|} \sum_{i \in T_k} ℓ(y_i, f_{k, c_k}(x_i)),
       \quad c_k = \arg\min_c \sum_{i \notin T_k} ℓ_{c,i}

    where :math:`ℓ_{c,i}` are the losses that the search itself compared. No loss on a test set is
    used in the choice for it, and no inner fit is made. But the other losses are those of models
    that have seen the test set: unlike in nested validation, the choice is slightly optimistic.
    """
    if scale.test_set_loss is None:
        return "the score of the search is the model's own: give the search scoring=."
    if replayed_search is not None and not replayed_search.has_row_losses:
        replayed_search = None
    data, family = mixed_rows.data, Family(claim.estimator, claim.candidates)
    method = ChoiceWithoutTestRows(mixed_rows.method, claim.best_candidate, replayed_search, data)
    problem_options = {**run_options, "time": data.time, "scoring": scale.test_set_loss}

    def compute_estimate() -> RiskEstimate:
        problem = replace(
            problem_from_arguments(family, data.X, data.y, **problem_options),
            uses_calibrated_interval=True,
        )
        estimate = to_procedure_estimate(compute_risks(problem, method))
        assert estimate is not None
        return estimate

    estimate = _estimate_or_reason(compute_estimate)
    if isinstance(estimate, str):
        return estimate
    notes = estimate.notes
    if replayed_search is None and len(claim.candidates) > 1:
        notes = (*notes, SINGLE_CHOICE_NOTE)
    return replace(estimate, scoring=scale.risk_name, notes=(*notes, *claim.notes))


def _estimate_or_reason(run_test: Callable[[], RiskEstimate]) -> RiskEstimate | str:
    """Call `run_test` and return its estimate, or the reason why there is none, as a sentence.

    A class may occur in one period of time only, for example.
    """
    try:
        estimate = run_test()
    except (BadData, FitFailed, Refusal) as error:
        return str(error)
    return " ".join(estimate.notes) if estimate.value is None else estimate


def findings_on_related_rows(
    mixed_rows: MixedSplits, estimate: RiskEstimate | str, claim: Claim, scale_of_search: ScoreScale
) -> Iterator[Finding]:
    """Yield a finding on times or places if the risk with rows kept apart exceeds the claim.

    It has to exceed the claim by more than a tenth and by two standard errors of the mean over test
    sets. Then the rows depend on their neighbours, and the search measured how well it remembers
    the neighbours of a row. Groups that are split are a finding whatever the risk
    (`checks/splits.py`). Numbers whose name does not suggest times only show that the table is
    sorted by them.
    """
    if isinstance(estimate, str):
        return
    risks, value = estimate.split_risks, estimate.loss_value
    if mixed_rows.kind == "groups" or risks is None or value is None:
        return
    claimed_risk, scale = float(scale_of_search.risk(claim.score)), scale_of_search.result_scale
    std_error, increase = float(risks.std(ddof=1) / np.sqrt(len(risks))), value - claimed_risk
    if increase <= max(
        MIN_RELATIVE_INCREASE * abs(value),
        (
            MIN_INCREASE_IN_STD_ERRORS
            if mixed_rows.are_neighbours_alike
            else MIN_STD_ERRORS_FOR_GUESSED_TIMES
        )
        * std_error,
    ):
        return
    seen_rows_text = "later ones" if mixed_rows.kind == "time" else "the rows beside"
    relation_text = (
        f"have {'times' if mixed_rows.kind == 'time' else 'places'} ({mixed_rows.relation_source})"
    )
    if not mixed_rows.has_times:
        relation_text = f"are sorted by {mixed_rows.relation_source}, which counts them"
    sentence = (
        f"The rows {relation_text}, and {mixed_rows.n_rows} of {mixed_rows.data.n_rows} were "
        f"tested by models that saw {seen_rows_text}. The search claims a {scale.noun} of "
        f"{format_number(scale.value(claimed_risk))} for its choice; in {len(risks)} "
        f"{mixed_rows.test_set_name}, "
        f"each left out whole, it is {format_number(scale.value(value))}: the claim shrinks by "
        f"{format_number(increase)}."
    )
    if not mixed_rows.has_times:
        remedy = "If that is a time, give it as time=. If not, ask why rows in a row are alike."
        yield Finding("order-matters", sentence, remedy)
        return
    if mixed_rows.kind == "time":
        advice = "cv=TimeSeriesSplit(), or HonestSearchCV and fit(X, y, time=...)"
        yield Finding("time-shuffled", sentence, f"Search in the order of time: {advice}.")
        return
    advice_on_blocks = "HonestSearchCV and fit(X, y, block=...)"
    yield Finding(
        "space-shuffled", sentence, f"Search with whole blocks left out: {advice_on_blocks}."
    )
