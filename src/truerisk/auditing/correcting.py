"""The honest risk of a search by the level, also where rows that belong together are kept apart."""

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
from truerisk.data.data import Data
from truerisk.estimation.problem import Problem, pose
from truerisk.estimation.run import compute, procedure_of
from truerisk.losses.loss import Loss
from truerisk.losses.loss_words import as_loss
from truerisk.methods.parts.procedure import by_fit, winners_of, with_winners
from truerisk.methods.words import as_method, usual_word
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
    """What an audit can justify: the `honest` risk, or `why` there is none.

    `choosing` is the claim corrected for the choice alone, where the splits that tell it mix what
    belongs together: `mixes` says what. It is None where they do not, or where `honest` alone was
    computed.
    """

    honest: RiskEstimate | None
    choosing: RiskEstimate | None = None
    mixes: Kind | None = None
    why: str = ""
    findings: tuple[Finding, ...] = ()


@frozen(eq=False)
class Wanted:
    """What an audit is asked; `order` is what its caller knows of the order of the rows.

    `checks` says whether rows and columns are looked through.
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
    """The risk by a level; that of rows kept apart where the splits mix what belongs together.

    What the user has said of the rows (times, places, groups) is kept apart in any case; dates that
    a frame is sorted by only where the risk collapses. Numbers that may be no times are a finding
    then, and change no risk.
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
            # models that they come from have seen its rows and labels, which flatters the choice.
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
    """Return the replay of the search and what it shows; at level "pairs" it may be None.

    The bootstrap needs the replay. The pairs of folds use it as a check, and to spare fits.
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
    """The whole search repeated, by outer splits that keep apart what its own splits mix."""
    claim.refuse_other_rows(problem.data)
    data = problem.data
    if outer is None and mixed is not None:
        outer, data = mixed.method, mixed.data
    elif outer is None and data.dependent:
        outer = usual_word(data)
    (y,) = data.targets(data.y)
    return repeated(search, claim, scale, data.X, y, outer, {**terms, "time": data.time})


def _mixes(outer: Any, mixed: Mixed, problem: Problem) -> bool:
    """Whether the outer splits that were asked for do what those of the search do."""
    data = mixed.data
    return mixed_splits(data, as_method(outer).plan(data, Streams(problem.seed))) is not None


SHARE = 0.1  # a loss of less than this share of the risk apart is no collapse
ERRORS = 2.0  # a loss within so many standard errors of the parts may be chance
UNTOLD = 4.0  # the same where times are guessed and y of neighbours differs

ONE_CHOICE = (
    "tested is the setting that the search chose on all rows: the choice is not corrected for. "
    "level='nested' does that."
)


@frozen(eq=False)
class ChosenWithout(Method):
    """The splits of `outer`, each asked of the setting that `losses` choose without its test rows.

    The search compared its settings with splits of its own, which mix: only the choice rests on
    them. It is slightly optimistic, since the models that gave these losses have seen the test rows
    of `outer`. Without `losses` each split is asked of setting `best`.
    """

    outer: Method
    best: int
    losses: Replayed | None = None
    data: Data | None = None
    target: ClassVar[Target] = "Err"

    @property
    def gives(self) -> frozenset[Basis]:  # type: ignore[override]
        return self.outer.gives

    @property
    def word(self) -> str:
        return f"{self.outer.word}, chosen {'without each' if self.losses else 'once'}"

    @property
    def bias(self) -> str:
        return self.outer.bias

    @property
    def respects_time(self) -> bool:  # type: ignore[override]
        return self.outer.respects_time

    def plan(self, data: Data, streams: Streams) -> Plan:
        return self.outer.plan(data, streams)

    def evaluate(self, ask: Ask, data: Data, loss: Loss, plan: Plan, terms: Terms) -> Evaluation:
        tested = [plan.test_rows(q)[0] for q in range(plan.n_questions)]
        chosen = np.array([self._choice(rows) for rows in tested])
        answers = ask(plan, only=by_fit(plan, chosen))
        risk = self.reduce(answers, data, loss, terms)[0]
        evaluation = Evaluation(plan, (risk,), answers.n_fits, answers=answers)
        return with_winners(evaluation, risk, winners_of(chosen, ()))

    def reduce(self, answers: Answers, data: Data, loss: Loss, terms: Terms) -> list[Tested]:
        return list(self.outer.reduce(answers, data, loss, terms))

    def _choice(self, tested: np.ndarray) -> int:
        """The setting with the least loss on the other rows; that of the search among equals."""
        if self.losses is None:
            return self.best
        risks = self.losses.risks_without(tested, self.data)
        if np.isnan(risks).all():  # no test set keeps both classes without these rows
            return self.best
        least = tied(risks, np.nanmin(risks))
        return self.best if least[self.best] else int(least.argmax())


def risk_apart(
    mixed: Mixed, claim: Claim, scale: ScoreScale, replayed: Replayed | None, terms: Any
) -> RiskEstimate | str:
    r"""The risk of the choice in splits that keep apart what belongs together, or why none.

    .. math:: \frac{1}{K} \sum_{k=1}^{K} \frac{1}{|T_k|} \sum_{i \in T_k} ℓ(y_i, f_{k, c_k}(x_i)),
       \quad c_k = \arg\min_c \sum_{i \notin T_k} ℓ_{c,i}

    with :math:`ℓ_{c,i}` the losses that the search itself compared. No loss on a test set takes
    part in the choice for it, and no inner fit is made. But the other losses are those of models
    that have seen the test set: unlike in nested validation, the choice is slightly optimistic.
    """
    if scale.whole is None:
        return "the score of the search is the model's own: give the search scoring=."
    if replayed is not None and not replayed.tells_rows:
        replayed = None
    data, family = mixed.data, Family(claim.estimator, claim.candidates)
    method = ChosenWithout(mixed.method, claim.best, replayed, data)
    asked = {**terms, "time": data.time, "scoring": scale.whole}

    def tested() -> RiskEstimate:
        problem = replace(pose(family, data.X, data.y, **asked), calibrated=True)
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
    """Return the risk of a test, or why it has none: a class may lie in one stretch alone."""
    try:
        estimate = tested()
    except (BadData, FitFailed, Refusal) as error:
        return str(error)
    return " ".join(estimate.notes) if estimate.value is None else estimate


def apart_findings(
    mixed: Mixed, estimate: RiskEstimate | str, claim: Claim, scale_of_search: ScoreScale
) -> Iterator[Finding]:
    """Of times and places, where the risk of rows kept apart is larger than the claim.

    By more than a tenth and two standard errors of the mean of the parts: then the rows depend on
    those near them, and the search rated how well it remembers the neighbours of a row. Cut groups
    are a finding whatever the risk (`checks/splits.py`). Of numbers that no name calls times
    it is only known that the table is sorted by them.
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
