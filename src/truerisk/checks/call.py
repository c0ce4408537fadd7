"""The checks that every call makes of its rows: one set for all verbs, run once for each call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from truerisk.checks.structure import structure_findings
from truerisk.core.present import clean, listed
from truerisk.data.data import Data
from truerisk.losses.loss import Events, Loss
from truerisk.results.finding import Finding


def call_findings(data: Data, losses: Iterable[Loss], *, seed: int = 0) -> tuple[Finding, ...]:
    """Check the rows of a call: near copies, order, group numbers, and few events for its losses.

    `seed` draws the rows of a large table that are looked at.
    """
    return (*structure_findings(data, seed), *event_findings(data, losses))


def event_findings(data: Data, losses: Iterable[Loss]) -> Iterator[Finding]:
    """Find losses that rest on few rows of a class or on few events."""
    few: dict[Events, list[str]] = {}
    for loss in losses:
        events = loss.events(data)
        if events is not None and events.n < events.enough:
            few.setdefault(events, []).append(clean(loss.word, 60))
    for events, words in few.items():
        names = list(dict.fromkeys(words))
        who = f"{listed(names)} rest" + ("s" if len(names) == 1 else "")
        yield _few(events, who)


def rarest_class_findings(data: Data) -> Iterator[Finding]:
    """Find a class of few rows: a ROC curve and rates at a threshold rest on it in any case."""
    if data.codes is None:
        return
    events = Events.of_class(data)
    if events.n < events.enough:
        yield _few(events, "The ROC curve and the rates at its thresholds rest")


def _few(events: Events, who: str) -> Finding:
    return Finding(
        "few-events",
        f"{who} on {events.n} {events.noun}, fewer than {events.enough}: each of them moves the "
        "value much, and the interval may hold the truth less often than it says.",
        "Gather more of them before the value is relied on.",
    )
