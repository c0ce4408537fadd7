"""Fitted steps by what they begin with: a trie for each train set, kept while there is room."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from truerisk.data.rows import copied
from truerisk.engines.prepared import fit_and_transform
from truerisk.engines.running.fit_warnings import Warned, kept_warnings
from truerisk.engines.running.read_off import reading_of
from truerisk.plan.plan import Plan

ROOM = 256 * 2**20  # bytes of tables that are kept for learners to come
DEPTH = 4  # how far a fitted step is looked into for its arrays


@dataclass(frozen=True)
class Start:
    """One step of a candidate before its learner: not fitted, with its seed.

    `kind` is equal for steps that are set alike. Where the grid has several values of a parameter
    that are read off one fit, `but` is the kind without it, and `value` is this step's.
    """

    name: str
    step: Any
    kind: Hashable
    but: Hashable = None
    value: Any = None
    values: tuple[Any, ...] = ()


@dataclass(eq=False)
class Place:
    """A fitted step at one place of the trie: its table, and what it makes of asked rows."""

    step: Any
    X: Any
    warned: list[Warned]
    test_tables: dict[int, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Begun:
    """The steps before one candidate's learner, fitted: its table, and asked rows as it sees them.

    Nobody writes into what others get: a learner is given copies.
    """

    names: tuple[str, ...]
    places: tuple[Place, ...]

    @property
    def steps(self) -> dict[str, Any]:
        """The fitted steps by their names."""
        return dict(zip(self.names, self.fitted, strict=True))

    @property
    def fitted(self) -> list[Any]:
        """The fitted steps, in their order."""
        return [place.step for place in self.places]

    @property
    def table(self) -> Any:
        """The train set as the learner sees it."""
        return copied(self.places[-1].X)

    def test_table(self, number: int, X: Any) -> Any:
        """The rows of the question with this number, as the learner sees them."""
        for place in self.places:
            if number not in place.test_tables:
                place.test_tables[number] = place.step.transform(copied(X))
            X = place.test_tables[number]
        return copied(X)


class Trie:
    """The fitted steps of one train set."""

    def __init__(self) -> None:
        self.places: dict[tuple[Hashable, ...], Place] = {}

    def begun(
        self,
        starts: Sequence[Start],
        cut: Callable[[], Any],
        y: np.ndarray | None,
        key: tuple[Hashable, ...] = (),
    ) -> Begun:
        """The steps fitted one after the other, those that are new.

        `cut` makes the train set, which a step may write into; `key` is what it comes from.
        """
        places: list[Place] = []
        for start in starts:
            before, key = key, (*key, start.kind)
            if key not in self.places:
                read = self._read_off(start, before, cut, y)
                self.places[key] = read or _placed(start.step, cut, y)
            places.append(self.places[key])
            cut = partial(copied, places[-1].X)
            for category, text in places[-1].warned:  # each candidate's pipeline would say so
                warnings.warn(text, category, stacklevel=2)
        return Begun(tuple(start.name for start in starts), tuple(places))

    def _read_off(
        self,
        start: Start,
        before: tuple[Hashable, ...],
        cut: Callable[[], Any],
        y: np.ndarray | None,
    ) -> Place | None:
        """A step as one fit for several of its settings gives it; None where it has its own."""
        reading = reading_of(start.step)
        if reading is None or start.but is None:
            return None
        key = (*before, start.but)
        if key not in self.places:
            value = reading.fitted_at(start.step, start.values, cut())
            if value is None:
                return None
            from sklearn.base import clone

            self.places[key] = _placed(
                clone(start.step).set_params(**{reading.parameter: value}), cut, y
            )
        one = self.places[key]
        read = reading.read(one.step, start.value, one.X)
        if read is None:
            return None
        fitted, table = read
        table = fitted.transform(cut()) if table is None else table
        return Place(fitted, table, one.warned)

    @property
    def n_bytes(self) -> int:
        """Of the tables, and of what the steps learnt, as far as it is arrays."""
        seen: set[int] = set()
        size = partial(_bytes, depth=DEPTH, seen=seen)
        return sum(size(one) for p in self.places.values() for one in (p.X, p.test_tables, p.step))


class Tries:
    """The tries of the train sets of plans, each kept for later while there is room for it."""

    def __init__(self, room: int = ROOM) -> None:
        self.room = room
        self.by_fit: dict[tuple[str, int], Trie] = {}
        self._last: tuple[tuple[str, int], Trie] | None = None

    def of(self, plan: Plan, fit: int) -> Trie:
        """The trie of one train set; the one before it is weighed then."""
        key = plan.fingerprint, fit
        if self._last is not None and self._last[0] != key:
            self._weigh(*self._last)
            self._last = None
        if key in self.by_fit:
            return self.by_fit[key]
        if self._last is None:
            self._last = key, Trie()
        return self._last[1]

    def _weigh(self, key: tuple[str, int], trie: Trie) -> None:
        size = trie.n_bytes
        if size <= self.room:
            self.room -= size
            self.by_fit[key] = trie


def _placed(step: Any, cut: Callable[[], Any], y: np.ndarray | None) -> Place:
    """A step fitted on a table, which it may write into, and what it says."""
    with kept_warnings() as warned:
        table = fit_and_transform(step, cut(), y)
    return Place(step, table, warned)


def _bytes(value: Any, depth: int, seen: set[int]) -> int:
    if id(value) in seen or not depth:
        return 0
    seen.add(id(value))
    if isinstance(value, np.ndarray):
        return value.nbytes
    if hasattr(value, "memory_usage"):  # a frame, whose texts are the user's own
        return int(np.sum(value.memory_usage(deep=False)))
    parts = list(value.values()) if isinstance(value, dict) else []
    parts += list(value) if isinstance(value, list | tuple) else []
    parts += list(getattr(value, "__dict__", {}).values())
    return sys.getsizeof(value) + sum(_bytes(part, depth - 1, seen) for part in parts)
