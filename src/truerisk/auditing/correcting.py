"""The honest risk of a search at each level, also with splits that keep related rows apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from truerisk.auditing.mixed_splits import Kind, Mixed, OrderOfRows, mixed_splits
from truerisk.auditing.replay import (
    Replayed,
    bias_corrected,
    refuse_bootstrap,
    replay,
    replay_findings,
)
from truerisk.contracts import Method, Streams, Terms
from truerisk.core.errors import BadData, FitFailed, Refusal
from truerisk.core.family import Family
from truerisk.core.formats import number
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.data.data import Data
from truerisk.estimation.problem import Problem, pose
from truerisk.estimation.run import compute, procedure_of
from truerisk.losses.loss import Loss
from truerisk.losses.loss_words import as_loss
from truerisk.methods.parts.procedure import by_fit, winners_of, with_winners
from truerisk.methods.words import as_method, default_name
from truerisk.plan.answers import Answers, Ask
from truerisk.plan.plan import Plan
from truerisk.results.evaluation import Evaluation, Target, Tested
from truerisk.results.finding import Finding
from truerisk.results.interval import Basis, tied
from truerisk.results.results import RiskEstimate
from truerisk.search.claim import Claim, ScoreScale
from truerisk.search.repeat import repeated, tested_in_pairs


@frozen(eq=False)
class Corrected:
    """The result that an audit can justify: the `honest` risk, or `why` there is none.

    If the search's splits separate related rows, `choosing` is the claim corrected for the choice
    alone, and `mixes` says which kind of rows. It is None if they do not, or if only `honest` was
    computed.
    """

    honest: RiskEstimate | None
    choosing: RiskEstimate | None = None
    mixes: Kind | None = None
    why: str = ""
    findings: tuple[Finding, ...] = ()


@frozen(eq=False)
class Wanted:
    """The options of an audit; `order` is what its caller knows about the order of the rows.

    `checks` says whether rows and columns are checked.
    """

    level: Any
    outer: Any
    replicates: int
    terms: Mapping[str, Any]
    order: OrderOfRows | None = None
    checks: bool = True
    positive: Any = None


def corrected(
    search: Any,
    claim: Claim,
    scale: ScoreScale,
    problem: Problem,
    plan: Plan | None,
    wanted: Wanted,
) -> Corrected:
    """Compute the risk at a level, with related rows kept apart if the search mixes them.

    Relations that the user has specified (times, places, groups) are respected in any case. Dates
    by which a frame is sorted are respected only if the risk becomes much larger. Numbers that may
    not be times are then a finding, and change no risk.
    """
    chosen, replayed = None, None
    seen: list[Finding] = []
    level, outer, terms = wanted.level, wanted.outer, wanted.terms
    if level == "bbc" and claim.curve is None:
        refuse_bootstrap(scale)
    if level in ("bbc", "pairs") and plan is not None:
        replayed, seen = _replayed(claim, scale, problem, plan, level)
    if level == "bbc" and replayed is not None:
        chosen = bias_corrected(claim, replayed, problem, wanted.replicates)
    if level == "pairs":
        known = None if replayed is None else replayed.answers
        chosen = tested_in_pairs(search, claim, scale, problem.data, terms, known)
    nested = partial(_nested, search, claim, scale, problem, terms)
    mixed = None if plan is None else mixed_splits(problem.data, plan, wanted.order)
    apart: RiskEstimate | str = ""
    if mixed is not None:
        apart = risk_apart(mixed, claim, scale, replayed, terms)
        more = list(apart_findings(mixed, apart, claim, scale))
        if not mixed.by_user and not (more and mixed.are_times):
            mixed = None
        elif level == "pairs" and not isinstance(apart, str):
            # The losses that the search compared cannot choose for a test set of these splits: the
            # models that they come from have seen its rows and labels, which makes the choice
            # optimistic.
            apart = _or_why(partial(nested, mixed))
            more = list(apart_findings(mixed, apart, claim, scale))
        seen += more
    if level == "nested":
        chosen = nested(mixed, outer)
        if mixed is not None and (outer is None or not _mixes(outer, mixed, problem)):
            return Corrected(chosen, mixes=mixed.kind, findings=tuple(seen))
    if mixed is None:
        return Corrected(chosen, findings=tuple(seen))
    if isinstance(apart, str):
        return Corrected(None, chosen, mixed.kind, apart, tuple(seen))
    return Corrected(apart, chosen, mixed.kind, findings=tuple(seen))


def _replayed(
    claim: Claim, scale: ScoreScale, problem: Problem, plan: Plan, level: str
) -> tuple[Replayed | None, list[Finding]]:
    """Return the replay of the search and its findings; at level "pairs" it may be None.

    The bootstrap needs the replay. The pairs of folds use it as a check, and to save fits.
    """
    if level == "pairs" and not scale.by_rows and scale.whole is not None:
        problem = replace(problem, loss=as_loss(scale.whole, problem.data))
    try:
        replayed = replay(claim, scale, problem, plan)
    except Refusal:
        if level == "bbc":
            raise
        return None, []
    other = replace(problem, seed=problem.seed + 1)
    again = partial(replay, claim, scale, other, plan)
    return replayed, replay_findings(claim, scale, replayed, again)


def _nested(
    search: Any,
    claim: Claim,
    scale: ScoreScale,
    problem: Problem,
    terms: Mapping[str, Any],
    mixed: Mixed | None,
    outer: Any = None,
) -> RiskEstimate:
    """Repeat the whole search by outer splits that keep related rows apart."""
    claim.refuse_other_rows(problem.data)
    data = problem.data
    if outer is None and mixed is not None:
        outer, data = mixed.method, mixed.data
    elif outer is None and data.dependent:
        outer = default_name(data)
    (y,) = data.targets(data.y)
    return repeated(search, claim, scale, data.X, y, outer, {**terms, "time": data.time})


def _mixes(outer: Any, mixed: Mixed, problem: Problem) -> bool:
    """Return True if the requested outer splits mix related rows, like those of the search."""
    data = mixed.data
    return mixed_splits(data, as_method(outer).plan(data, Streams(problem.seed))) is not None


SHARE = 0.1  # An increase by less than this share of the risk is not counted as a collapse.
ERRORS = 2.0  # An increase within this many standard errors of the parts may be chance.
UNTOLD = 4.0  # The same if times are guessed and y of neighbours differs.

ONE_CHOICE = (
    "tested is the setting that the search chose on all rows: the choice is not corrected for. "
    "level='nested' does that."
)


@frozen(eq=False)
class ChosenWithout(Method):
    """The splits of `outer`, each tested with the setting chosen without its test rows.

    The `losses` of the search choose. The search compared its settings with splits of its own,
    which mix related rows: only the choice is based on them. It is slightly optimistic, since the
    models that gave these losses have seen the test rows of `outer`. Without `losses` each split
    tests setting `best`.
    """

    outer: Method
    best: int
    losses: Replayed | None = None
    data: Data | None = None
    target: ClassVar[Target] = "Err"

    @property
    @override
    def gives(self) -> frozenset[Basis]:  # type: ignore[override]
        return self.outer.gives

    @property
    @override
    def name(self) -> str:
        return f"{self.outer.name}, chosen {'without each' if self.losses else 'once'}"

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
        tested = [plan.test_rows(q)[0] for q in range(plan.n_questions)]
        chosen = np.array([self._choice(rows) for rows in tested])
        answers = ask(plan, only=by_fit(plan, chosen))
        risk = self.reduce(answers, data, loss, terms)[0]
        evaluation = Evaluation(plan, (risk,), answers.n_fits, answers=answers)
        return with_winners(evaluation, risk, winners_of(chosen, ()))

    @override
    def reduce(self, answers: Answers, data: Data, loss: Loss, terms: Terms) -> list[Tested]:
        return list(self.outer.reduce(answers, data, loss, terms))

    def _choice(self, tested: np.ndarray) -> int:
        """Return the setting with the smallest loss on the other rows; the search's if tied."""
        if self.losses is None:
            return self.best
        risks = self.losses.risks_without(tested, self.data)
        if np.isnan(risks).all():  # No test set has both classes without these rows.
            return self.best
        least = tied(risks, np.nanmin(risks))
        return self.best if least[self.best] else int(least.argmax())


def risk_apart(
    mixed: Mixed, claim: Claim, scale: ScoreScale, replayed: Replayed | None, terms: Any
) -> RiskEstimate | str:
    r"""Return the risk of the choice in splits that keep related rows apart, or why not.

    .. math:: \frac{1}{K} \sum_{k=1}^{K} \frac{1}{|T_k|} \sum_{i \in T_k} ℓ(y_i, f_{k, c_k}(x_i)),
       \quad c_k = \arg\min_c \sum_{i \notin T_k} ℓ_{c,i}

    where :math:`ℓ_{c,i}` are the losses that the search itself compared. No loss on a test set is
    used in the choice for it, and no inner fit is made. But the other losses are those of models
    that have seen the test set: unlike in nested validation, the choice is slightly optimistic.
    """
    if scale.whole is None:
        return "the score of the search is the model's own: give the search scoring=."
    if replayed is not None and not replayed.tells_rows:
        replayed = None
    data, family = mixed.data, Family(claim.estimator, claim.candidates)
    method = ChosenWithout(mixed.method, claim.best, replayed, data)
    requested = {**terms, "time": data.time, "scoring": scale.whole}

    def tested() -> RiskEstimate:
        problem = replace(pose(family, data.X, data.y, **requested), calibrated=True)
        estimate = procedure_of(compute(problem, method))
        assert estimate is not None
        return estimate

    estimate = _or_why(tested)
    if isinstance(estimate, str):
        return estimate
    notes = estimate.notes
    if replayed is None and len(claim.candidates) > 1:
        notes = (*notes, ONE_CHOICE)
    return replace(estimate, scoring=scale.word, notes=(*notes, *claim.notes))


def _or_why(tested: Callable[[], RiskEstimate]) -> RiskEstimate | str:
    """Return the risk of a test, or why it has none: a class may be confined to one time period."""
    try:
        estimate = tested()
    except (BadData, FitFailed, Refusal) as error:
        return str(error)
    return " ".join(estimate.notes) if estimate.value is None else estimate


def apart_findings(
    mixed: Mixed, estimate: RiskEstimate | str, claim: Claim, scale_of_search: ScoreScale
) -> Iterator[Finding]:
    """Yield a finding on times or places if the risk of separated rows exceeds the claim.

    It has to exceed it by more than a tenth and by two standard errors of the mean of the parts.
    Then the rows depend on their neighbours, and the search measured how well it remembers the
    neighbours of a row. Groups that are split are a finding whatever the risk (`checks/splits.py`).
    Numbers whose name does not suggest times only show that the table is sorted by them.
    """
    if isinstance(estimate, str):
        return
    risks, value = estimate.split_risks, estimate.loss_value
    if mixed.kind == "groups" or risks is None or value is None:
        return
    claimed, scale = float(scale_of_search.risk(claim.score)), scale_of_search.shown
    error, lost = float(risks.std(ddof=1) / np.sqrt(len(risks))), value - claimed
    if lost <= max(SHARE * abs(value), (ERRORS if mixed.alike else UNTOLD) * error):
        return
    saw = "later ones" if mixed.kind == "time" else "the rows beside"
    have = f"have {'times' if mixed.kind == 'time' else 'places'} ({mixed.place})"
    if not mixed.are_times:
        have = f"are sorted by {mixed.place}, which counts them"
    sentence = (
        f"The rows {have}, and {mixed.n_rows} of {mixed.data.n_rows} were tested by models that "
        f"saw {saw}. The search claims a {scale.noun} of {number(scale.value(claimed))} for its "
        f"choice; in {len(risks)} {mixed.parts}, each left out whole, it is "
        f"{number(scale.value(value))}: the claim shrinks by {number(lost)}."
    )
    if not mixed.are_times:
        remedy = "If that is a time, give it as time=. If not, ask why rows in a row are alike."
        yield Finding("order-matters", sentence, remedy)
        return
    if mixed.kind == "time":
        forward = "cv=TimeSeriesSplit(), or HonestSearchCV and fit(X, y, time=...)"
        yield Finding("time-shuffled", sentence, f"Search in the order of time: {forward}.")
        return
    whole = "HonestSearchCV and fit(X, y, block=...)"
    yield Finding("space-shuffled", sentence, f"Search with whole blocks left out: {whole}.")
