"""The honest risk of a search by the level that was asked for, and what is owed to its splits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from truerisk.api.auditing.apart import apart_findings, risk_apart
from truerisk.api.auditing.claim import Claim
from truerisk.api.auditing.mixed_splits import Kind, Mixed, mixed_splits
from truerisk.api.auditing.order_of_rows import OrderOfRows
from truerisk.api.auditing.repeat import repeated
from truerisk.api.auditing.replay import Replayed, bias_corrected, replay, replay_findings
from truerisk.api.auditing.score_scale import ScoreScale
from truerisk.api.findings.finding import Finding
from truerisk.core.contracts import Streams
from truerisk.core.plan.plan import Plan
from truerisk.core.results import RiskEstimate
from truerisk.methods.words import as_method
from truerisk.run.outer_splits import usual_word
from truerisk.run.problem import Problem

__all__ = ["Corrected", "corrected"]


@dataclass(frozen=True, eq=False)
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


def corrected(
    search: Any,
    claim: Claim,
    scale: ScoreScale,
    problem: Problem,
    plan: Plan | None,
    level: str,
    outer: Any,
    replicates: int,
    given: Mapping[str, Any],
    order: OrderOfRows | None = None,
) -> Corrected:
    """The risk by a level; that of rows kept apart where the splits mix what belongs together.

    What the user has said of the rows (times, places, groups) is kept apart in any case; dates that
    a frame is sorted by only where the risk collapses. Numbers that may be no times are a finding
    then, and change no risk.
    """
    chosen, replayed, seen = None, None, []
    if level == "bbc" and plan is not None:
        replayed = replay(claim, scale, problem, plan)
        other = replace(problem, seed=problem.seed + 1)
        seen = replay_findings(claim, scale, replayed, lambda: replay(claim, scale, other, plan))
        chosen = bias_corrected(claim, replayed, problem, replicates)
    mixed = None if plan is None else mixed_splits(problem.data, plan, order)
    apart, found = _apart(mixed, claim, scale, replayed, given)
    if mixed is not None and not mixed.given and not (found and mixed.sure):
        mixed = None
    seen += found
    if level == "nested":
        chosen = _nested(search, claim, scale, problem, mixed, outer, given)
        if mixed is not None and (outer is None or not _mixes(outer, mixed, problem)):
            return Corrected(chosen, mixes=mixed.kind, findings=tuple(seen))
    if mixed is None:
        return Corrected(chosen, findings=tuple(seen))
    if isinstance(apart, str):
        return Corrected(None, chosen, mixed.kind, apart, tuple(seen))
    return Corrected(apart, chosen, mixed.kind, findings=tuple(seen))


def _apart(
    mixed: Mixed | None,
    claim: Claim,
    scale: ScoreScale,
    replayed: Replayed | None,
    given: Mapping[str, Any],
) -> tuple[RiskEstimate | str, list[Finding]]:
    if mixed is None:
        return "", []
    apart = risk_apart(mixed, claim, scale, replayed, given)
    if isinstance(apart, str):
        return apart, []
    claimed = float(scale.risk(claim.score))
    return apart, list(apart_findings(mixed, apart, claimed, scale.shown))


def _nested(
    search: Any,
    claim: Claim,
    scale: ScoreScale,
    problem: Problem,
    mixed: Mixed | None,
    outer: Any,
    given: Mapping[str, Any],
) -> RiskEstimate:
    """The whole search repeated, by outer splits that keep apart what its own splits mix."""
    claim.refuse_other_rows(problem.data)
    data = problem.data
    if outer is None and mixed is not None:
        outer, data = mixed.method, mixed.data
    elif outer is None and data.dependent:
        outer = usual_word(data)
    (y,) = data.targets(data.y)
    return repeated(search, claim, scale, data.X, y, outer, {**given, "time": data.time})


def _mixes(outer: Any, mixed: Mixed, problem: Problem) -> bool:
    """Whether the outer splits that were asked for do what those of the search do."""
    data = mixed.data
    return mixed_splits(data, as_method(outer).plan(data, Streams(problem.seed))) is not None
