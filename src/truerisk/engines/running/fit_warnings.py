"""Warnings of single fits, kept apart so that a thousand fits say the same thing once."""

from __future__ import annotations

import re
import threading
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from truerisk.core.warned import warn

__all__ = ["Tally", "Warned", "alike", "apart", "counted", "kept_warnings", "say_once"]

Warned = tuple[type[Warning], str]

_NUMBER = re.compile(r"(?:(?<!\w)-)?\d+(\.\d+)?(e[+-]?\d+)?", re.IGNORECASE)
_COUNTED = re.compile(r"(.*) \[(\d+) times in (\d+) fits\]", re.DOTALL)


@contextmanager
def kept_warnings() -> Iterator[list[Warned]]:
    """Collect what the user's filters let through; only in a main thread, where filters are ours.

    In other threads warnings go their usual way: `catch_warnings` would race.
    """
    kept: list[Warned] = []
    if threading.current_thread() is not threading.main_thread():
        yield kept
        return
    with warnings.catch_warnings(record=True) as caught:
        try:
            yield kept
        finally:
            kept.extend((w.category, str(w.message)) for w in caught)


class Tally:
    """Warnings counted as they come: each distinct one is held once, however many fits give it.

    Texts that differ in their numbers only (a duality gap, say) are one warning, said as the first.
    """

    def __init__(self) -> None:
        self._said: dict[tuple[type[Warning], str], str] = {}
        self._times: Counter[tuple[type[Warning], str]] = Counter()

    def add(self, warned: Iterable[Warned]) -> None:
        """Count what a fit warned of."""
        for category, text in warned:
            key = category, alike(text)
            self._said.setdefault(key, text)
            self._times[key] += 1

    def say(self, n_fits: int) -> None:
        """Repeat each distinct warning once, with how many fits gave it."""
        for key, text in self._said.items():
            warn(counted(text, self._times[key], n_fits), key[0])


def say_once(warned: Iterable[Warned], n_fits: int) -> None:
    """Repeat each distinct one of these warnings once, with how many fits gave it."""
    tally = Tally()
    tally.add(warned)
    tally.say(n_fits)


def alike(text: str) -> str:
    """The text without its numbers: what two tellings of one warning share.

    >>> alike("gap 1.5e-3 after 20 steps")
    'gap # after # steps'
    >>> alike("best gain: -inf"), alike("best gain: -0.5") == alike("best gain: 0")
    ('best gain: -inf', True)
    """
    return _NUMBER.sub("#", text)


def counted(text: str, times: int, n_fits: int) -> str:
    """The text with how many of so many fits gave it; of one fit, the text alone.

    >>> counted("no convergence", 3, 10)
    'no convergence [3 times in 10 fits]'
    """
    return text if n_fits <= 1 else f"{text} [{times} times in {n_fits} fits]"


def apart(said: str) -> tuple[str, int, int]:
    """What `counted` joined: the text, how many times, in how many fits; (text, 1, 0) for others.

    >>> apart("no convergence [3 times in 10 fits]")
    ('no convergence', 3, 10)
    """
    found = _COUNTED.fullmatch(said)
    return (found[1], int(found[2]), int(found[3])) if found else (said, 1, 0)
