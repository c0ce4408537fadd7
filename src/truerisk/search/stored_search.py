"""`store`: a file that keeps the fits of a search, so that an interrupted search can continue."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from truerisk.contracts import FitCounts
from truerisk.core.arguments import mention, to_store_path
from truerisk.core.errors import BadArgument, TrueRiskWarning, warn
from truerisk.core.family import Family
from truerisk.core.frozen import frozen
from truerisk.core.registry import check_present
from truerisk.engines.running.executors import count_workers
from truerisk.estimation.problem import EstimationProblem


@frozen(eq=False)
class StoredSearch:
    """Store of the fits of a search, with its file open; engines write to its `fit_store`."""

    fit_store: Any
    path: Path

    @property
    def fit_counts(self) -> FitCounts:
        """Numbers of fits that were found in the store and that were added to it."""
        return FitCounts(self.fit_store.n_found, self.fit_store.n_added)

    def register_candidates(self, family: Family, whole_family: Family, candidates: slice) -> None:
        """Register some candidates, whose fits are stored under the key of the whole search."""
        self.fit_store.register_candidates(family, whole_family, candidates)

    def warn_if_no_fit_matches(self) -> None:
        """Warn if the store holds fits, but no fit of this search."""
        fit_store = self.fit_store
        if fit_store.was_empty or fit_store.n_found or not fit_store.n_added:
            return
        warn(
            f"{self.path} holds fits, and none of this search: data, model, settings, folds, what "
            "is asked or random_state are others. It begins anew; what is stored stays.",
            TrueRiskWarning,
        )


def check_store(store: Any, random_state: Any) -> None:
    """Raise BadArgument if `store` is no possible file, or if its fits would not be found again.

    They are not found if a later run would make other fits.
    """
    store_path = to_store_path(store, example="search.db")
    store_argument_text = mention("store", str(store_path), repr(str(store_path)))
    if store_path.is_dir():
        raise BadArgument(f"{store_argument_text} is a folder: name a file, such as 'search.db'.")
    if not store_path.parent.is_dir():
        raise BadArgument(
            f"{store_argument_text}: there is no folder {str(store_path.parent)!r}; make it first."
        )
    if not os.access(store_path if store_path.exists() else store_path.parent, os.W_OK):
        raise BadArgument(f"{store_argument_text} cannot be written: name a file that can.")
    if random_state is None:
        raise BadArgument(
            f"{mention('random_state', None)} draws other folds in every run, which would find no "
            "fit of an earlier one in the store: give a seed, such as "
            f"{mention('random_state', 0)}."
        )


@contextmanager
def open_store(
    store: Any,
    problems: Mapping[str, EstimationProblem],
    *,
    kind: str,
    mixed_versions: bool = False,
) -> Iterator[StoredSearch]:
    """Open or create a file that stores the fits of a search.

    An error is raised if the fits of a learner cannot be identified.

    `problems` holds the estimation problems by the names of their learners.
    """
    check_present("truerisk.study.keeping")
    from truerisk.study.keeping import open_fit_store

    first_problem = next(iter(problems.values()))
    with open_fit_store(
        store,
        {learner_name: problem.family for learner_name, problem in problems.items()},
        scorers=[getattr(loss, "scorer", None) for loss in first_problem.losses],
        workers=count_workers(first_problem.executor) or 1,
        mixed_versions=mixed_versions,
        store_kind=kind,
    ) as fit_store:
        yield StoredSearch(fit_store, to_store_path(store, example="search.db"))
