"""Warnings of single fits, kept apart so that a thousand fits say the same thing once."""

from __future__ import annotations

import threading
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

__all__ = ["Warned", "kept_warnings", "say_once"]

Warned = tuple[type[Warning], str]


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


def say_once(warned: Iterable[Warned], n_fits: int) -> None:
    """Repeat each distinct warning once, with how many fits gave it."""
    for (category, text), times in Counter(warned).items():
        said = text if n_fits == 1 else f"{text} [{times} times in {n_fits} fits]"
        warnings.warn(said, category, stacklevel=2)
