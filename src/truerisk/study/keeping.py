"""A store that keeps single fits, so that an assessment or a search which was cut off goes on.

A cell is what determines the answers of a fit but its number: learner, settings, data, plan, what
is asked, seed. The number is that of the fit in its plan. No method and no engine knows the store.
"""

from __future__ import annotations

import os
import time
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from truerisk.core.arguments import store_of
from truerisk.core.contracts import Request
from truerisk.core.family import Family
from truerisk.core.plan.plan import Plan
from truerisk.core.table.data import Data
from truerisk.study.contents import content_of, data_content, learner_content
from truerisk.study.keys import key_of
from truerisk.study.states import Fate, State
from truerisk.study.store import Store
from truerisk.study.tasks import versions
from truerisk.study.values import pack
from truerisk.study.versions import ASSESSMENT, begin

__all__ = ["Keeping", "keeping"]

COMMIT_EVERY = 1.0  # seconds; fits that end in between share a transaction
COMMIT_SIZE = 1_000
COMMIT_PAUSE = 20.0  # times what the last transaction took


@contextmanager
def keeping(
    path: str | os.PathLike[str],
    learners: Mapping[str, Family],
    *,
    scorers: Sequence[Any] = (),
    workers: int = 1,
    mixed_versions: bool = False,
    kind: str = ASSESSMENT,
) -> Iterator[Keeping]:
    """Keep fits of these learners in a file, which is made where it is not there.

    A learner or a scorer that has no key is refused before. What was found is stored at the end,
    whatever ends it but SIGKILL.
    """
    for scorer in scorers:
        content_of(scorer, "loss")
    known = {id(f): (f, *learner_content(f, name)) for name, f in learners.items()}
    place = store_of(path)
    with Store.write(place) as store:
        begin(store, kind, {"name": place.name}, mixed_versions=mixed_versions)
        store.begin(workers, versions())
        kept = Keeping(store, known)
        try:
            yield kept
        finally:
            kept.flush()
            store.end()


class Keeping:
    """What engines leave here is on the disk about a second later; `Keeper` in core/contracts."""

    def __init__(self, store: Store, learners: Mapping[int, tuple[Family, Any, list[Any]]]) -> None:
        self.store = store
        self.n_found = self.n_added = 0
        self._learners = dict(learners)
        self._data: dict[int, tuple[Data, str]] = {}
        self._cells = {cell.key: cell for cell in store.cells()}
        self.was_empty = not self._cells
        self._waiting: list[tuple[_Shelf, int, Mapping[str, Any], float]] = []
        self._stored_at = time.monotonic()
        self._storing = 0.0  # seconds of the last transaction, most of them waits for the disk

    def part(self, family: Family, of: Family, candidates: slice) -> None:
        """Some settings of a learner that is known, asked for by themselves."""
        _, estimator, settings = self._learners[id(of)]
        self._learners[id(family)] = family, estimator, settings[candidates]

    def shelf(
        self,
        engine: str,
        family: Family,
        candidates: Sequence[int],
        data: Data,
        plan: Plan,
        request: Request,
        seed: int,
    ) -> _Shelf:
        """The place for the fits of these candidates."""
        _, estimator, settings = self._learners[id(family)]
        content = {
            "fits": engine,
            "learner": estimator,
            "settings": [settings[candidate] for candidate in candidates],
            "data": self._key_of(data),
            "plan": plan.fingerprint,
            "response": request.response,
            "scorer": content_of(request.scorer, "loss"),
            "seed": seed,
        }
        if request.also:
            content["also"] = [[r.response, content_of(r.scorer, "loss")] for r in request.also]
        return _Shelf(self, content, plan.n_fits, len(candidates))

    def found(self, shelf: _Shelf, fits: Container[int]) -> Iterator[tuple[int, dict[str, Any]]]:
        cell = self._cells.get(shelf.key)
        for fit, _, _, content in () if cell is None else self.store.results(cell):
            if fit in fits:
                self.n_found += shelf.n_candidates
                yield fit, content

    def keep(self, shelf: _Shelf, fit: int, content: Mapping[str, Any], seconds: float) -> None:
        self._waiting.append((shelf, fit, content, seconds))
        self.n_added += shelf.n_candidates
        pause = max(COMMIT_EVERY, COMMIT_PAUSE * self._storing)
        due = time.monotonic() - self._stored_at > pause
        if due or len(self._waiting) >= COMMIT_SIZE:
            self.flush()

    def flush(self) -> None:
        """Put on the disk what waits for it."""
        if not self._waiting:
            return
        started = time.monotonic()
        self._make_cells()
        fates = []
        for shelf, fit, content, seconds in self._waiting:
            packed, cell = pack(content), self._cells[shelf.key]
            fates.append(Fate(cell.id, fit, State.DONE, seconds, packed.text, packed.npy))
        self.store.save(fates)
        self._waiting = []
        self._stored_at = time.monotonic()
        self._storing = self._stored_at - started

    def _make_cells(self) -> None:
        """Those of shelves on which something was put for the first time."""
        new = {shelf.key: shelf for shelf, *_ in self._waiting if shelf.key not in self._cells}
        for n_fits in {shelf.n_fits for shelf in new.values()}:
            contents = [shelf.content for shelf in new.values() if shelf.n_fits == n_fits]
            self._cells |= {cell.key: cell for cell in self.store.want(contents, n_fits)}

    def _key_of(self, data: Data) -> str:
        """Hashed once, however many fits see the rows."""
        if id(data) not in self._data:
            self._data[id(data)] = data, key_of(data_content(data))
        return self._data[id(data)][1]


class _Shelf:
    """Fits that differ by their number alone; `Shelf` in core/contracts."""

    def __init__(
        self, keeping: Keeping, content: Mapping[str, Any], n_fits: int, n_candidates: int
    ) -> None:
        self.content, self.n_fits, self.n_candidates = content, n_fits, n_candidates
        self.key = key_of(content)
        self._keeping = keeping

    def found(self, fits: Container[int]) -> Iterator[tuple[int, Mapping[str, Any]]]:
        return self._keeping.found(self, fits)

    def keep(self, fit: int, content: Mapping[str, Any], seconds: float) -> None:
        self._keeping.keep(self, fit, content, seconds)
