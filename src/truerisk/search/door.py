"""Import the parts of a search that few calls need, when they are needed."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from truerisk.core.registry import loader_of

if TYPE_CHECKING:
    from truerisk.search.stored_search import StoredSearch

load_part = loader_of(
    "truerisk.search",
    """
    fit-given  given_search:fit_given_search  a search that was given is fitted, and again outside
    claim-of-model  own_claim:claimed_by  what a model that tunes inside its fit claims of itself
    try-in-time  time_limit:try_in_time  as many settings as can be rated in so many seconds
    check-store  stored_search:check_store  a place for fits, and a search that finds them again
    open-store  stored_search:open_store  a file that keeps every fit as it ends
    scores-of-function  several_scores:by_function  a function that gives several scores
    """,
)


def check_store(store: Any, random_state: Any) -> None:
    """Raise if no file can be stored there, or if a later run would not find the same fits."""
    if store is not None:
        load_part("check-store")(store, random_state)


def open_store(
    store: Any, problems: Any, **options: Any
) -> AbstractContextManager[StoredSearch | None]:
    """Open the store of these problems by name, a `StoredSearch`; None if no fits are stored."""
    if store is None:
        return nullcontext()
    stored: AbstractContextManager[StoredSearch] = load_part("open-store")(
        store, problems, **options
    )
    return stored
