"""Checks of the rows of a call: findings go to its problem, its results and one warning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from truerisk.checks.call import call_findings
from truerisk.core.arguments import check_flag
from truerisk.estimation.problem import Problem
from truerisk.results.finding import Finding, are_checks_on
from truerisk.results.results import RiskCurve, RiskEstimate


def with_checks(problem: Problem, checks: bool, *, forward: bool) -> Problem:
    """Check the rows of a problem, unless that is switched off or a fit of another call runs.

    Results of the problem hold the findings and say them in their notes. If all splits of the call
    go `forward` in time, an order of the rows misleads nobody, and `rows-in-order` is left out.
    """
    check_flag("checks", checks)
    if not checks or not are_checks_on():
        return problem
    findings = call_findings(problem.data, problem.losses, seed=problem.seed)
    if forward:
        findings = tuple(finding for finding in findings if finding.code != "rows-in-order")
    return replace(problem, findings=findings)


def with_equal_checks(
    problems: Mapping[str, Problem], checks: bool, *, forward: bool
) -> dict[str, Problem]:
    """Check rows that several problems share once, for all of them."""
    first = with_checks(next(iter(problems.values())), checks, forward=forward)
    return {name: replace(each, findings=first.findings) for name, each in problems.items()}


def with_findings(estimate: RiskEstimate, findings: Sequence[Finding]) -> RiskEstimate:
    """Add findings that the estimate does not hold yet, and their notes."""
    new = tuple(finding for finding in findings if finding not in estimate.findings)
    notes = (*(finding.note for finding in new), *estimate.notes)
    return replace(estimate, findings=new + estimate.findings, notes=notes)


def all_findings(estimate: RiskEstimate | RiskCurve) -> list[Finding]:
    """List what was found for an estimate and for the further scores of the same fits."""
    estimates = (estimate, *estimate.scores.values())
    return list(dict.fromkeys(finding for each in estimates for finding in each.findings))
