"""The checks that every call makes of its rows: one set for all verbs, run once for each call."""

from __future__ import annotations

from collections.abc import Iterable

from truerisk.checks.events import event_findings
from truerisk.checks.structure import structure_findings
from truerisk.data.data import Data
from truerisk.losses.loss import Loss
from truerisk.results.finding import Finding


def call_findings(data: Data, losses: Iterable[Loss], *, seed: int = 0) -> tuple[Finding, ...]:
    """Check the rows of a call: near copies, order, group numbers, and few events for its losses.

    `seed` draws the rows of a large table that are looked at.
    """
    return (*structure_findings(data, seed), *event_findings(data, losses))
