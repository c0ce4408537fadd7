"""Checks of the claim against the honest risk."""

from __future__ import annotations

from collections.abc import Iterator

from truerisk.api.findings.finding import Finding
from truerisk.core.present import number
from truerisk.core.results import RiskEstimate

__all__ = ["LARGE", "risk_findings"]

LARGE = 0.1  # of the honest risk


def risk_findings(claimed: float, honest: RiskEstimate) -> Iterator[Finding]:
    """A claim outside the interval is refuted; one inside may still flatter."""
    value, interval = honest.value, honest.interval
    if value is None:
        return
    if interval is not None and claimed not in interval:
        side = "better" if claimed < interval.low else "worse"
        yield Finding(
            "claim-refuted",
            f"The claimed risk {number(claimed)} is {side} than anything in the "
            f"{100 * interval.confidence_level:g} % interval {interval}.",
            "Report the honest risk with its interval.",
        )
    noise = honest.std_error or 0.0
    if value - claimed > max(LARGE * value, noise / 2):
        yield Finding(
            "optimism-large",
            f"The claimed risk {number(claimed)} is {number(value - claimed)} too small, "
            f"{(value - claimed) / value:.0%} of the honest {number(value)}.",
            "Report the honest risk; more rows or fewer settings make the two alike.",
        )
