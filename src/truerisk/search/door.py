"""Import of modules of a search that few calls need, at the time when they are needed."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from truerisk.core.registry import make_loader
from truerisk.engines.running.fitting import FitContext

if TYPE_CHECKING:
    from truerisk.search.stored_search import StoredSearch

load_from_search = make_loader(
    "truerisk.search",
    """
    fit-given  given_search:fit_given_search  a search that was given is fitted, and again outside
    claim-of-model  own_claim:claimed_risk  what a model that tunes inside its fit claims of itself
    try-in-time  time_limit:try_in_time  as many settings as can be rated in so many seconds
    check-store  stored_search:check_store  a place for fits, and a search that finds them again
    open-store  stored_search:open_store  a file that keeps every fit as it ends
    fit-with-callbacks  callbacks:fit_with_callbacks  callbacks of scikit-learn follow its tasks
    keep-apart  related_rows:keep_related_rows_apart  outer splits that keep related rows apart
    scores-of-function  several_scores:scorers_of_function  a function that gives several scores
    """,
)


class SearchTasks:
    """Tasks of a search, which callbacks of scikit-learn follow; this base class follows none."""

    def follow(self, task_name: str, problem: Any, method: Any) -> AbstractContextManager[Any]:
        """Return the context of a task in which `method` fits the candidates of `problem`."""
        return nullcontext()

    def fit_context(self, task_name: str) -> FitContext:
        """Return the function that makes the context of a task which is a fit on all rows."""
        return nullcontext


NO_TASKS = SearchTasks()


def check_store(store: Any, random_state: Any) -> None:
    """Raise BadArgument if `store` is no possible file, or if its fits would not be found again.

    They are not found if a later run would make other fits.
    """
    if store is not None:
        load_from_search("check-store")(store, random_state)


def open_store(
    store: Any, problems: Any, **options: Any
) -> AbstractContextManager[StoredSearch | None]:
    """Open the file that stores the fits of these problems, as a `StoredSearch`.

    The context manager yields None if no fits are stored.
    """
    if store is None:
        return nullcontext()
    store_context: AbstractContextManager[StoredSearch] = load_from_search("open-store")(
        store, problems, **options
    )
    return store_context
