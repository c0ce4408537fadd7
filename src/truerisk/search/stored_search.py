"""`store`: a file that stores the fits of a search, so that an interrupted search can continue."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from truerisk.contracts import Fits
from truerisk.core.arguments import mention, store_of
from truerisk.core.errors import BadArgument, TrueRiskWarning, warn
from truerisk.core.family import Family
from truerisk.core.frozen import frozen
from truerisk.core.registry import check_present
from truerisk.engines.running.executors import workers_of
from truerisk.estimation.problem import Problem


@frozen(eq=False)
class StoredSearch:
    """The open store of a search; engines store their fits through the `fit_store`."""

    fit_store: Any
    path: Path

    @property
    def fits(self) -> Fits:
        """The numbers of fits that were found in the store and added to it."""
        return Fits(self.fit_store.n_found, self.fit_store.n_added)

    def part(self, family: Family, of: Family, candidates: slice) -> None:
        """Announce a part of the settings, so that its fits are stored under the whole search."""
        self.fit_store.part(family, of, candidates)

    def warn_of_another(self) -> None:
        """Warn if the store holds fits, but none of this search."""
        fit_store = self.fit_store
        if fit_store.was_empty or fit_store.n_found or not fit_store.n_added:
            return
        warn(
            f"{self.path} holds fits, and none of this search: data, model, settings, folds, what "
            "is asked or random_state are others. It begins anew; what is stored stays.",
            TrueRiskWarning,
        )


def check_store(store: Any, random_state: Any) -> None:
    """Raise if no file can be stored there, or if a later run would not find the same fits."""
    place = store_of(store, example="search.db")
    named = mention("store", str(place), repr(str(place)))
    if place.is_dir():
        raise BadArgument(f"{named} is a folder: name a file, such as 'search.db'.")
    if not place.parent.is_dir():
        raise BadArgument(f"{named}: there is no folder {str(place.parent)!r}; make it first.")
    if not os.access(place if place.exists() else place.parent, os.W_OK):
        raise BadArgument(f"{named} cannot be written: name a file that can.")
    if random_state is None:
        raise BadArgument(
            f"{mention('random_state', None)} draws other folds in every run, which would find no "
            "fit of an earlier one in the store: give a seed, such as "
            f"{mention('random_state', 0)}."
        )


@contextmanager
def open_store(
    store: Any, problems: Mapping[str, Problem], *, kind: str, mixed_versions: bool = False
) -> Iterator[StoredSearch]:
    """Open or create the store of fits; refuse a learner whose fits cannot be told apart by a key.

    `problems` holds the learners by their names.
    """
    check_present("truerisk.study.keeping")
    from truerisk.study.keeping import keeping

    first = next(iter(problems.values()))
    with keeping(
        store,
        {name: problem.family for name, problem in problems.items()},
        scorers=[getattr(loss, "scorer", None) for loss in first.losses],
        workers=workers_of(first.executor) or 1,
        mixed_versions=mixed_versions,
        kind=kind,
    ) as fit_store:
        yield StoredSearch(fit_store, store_of(store, example="search.db"))
