"""Checks that a store is used for one purpose and with one set of package versions."""

from __future__ import annotations

from collections.abc import Mapping

from truerisk.core.arguments import mention
from truerisk.core.errors import BadStore
from truerisk.engines.workers.crews import versions
from truerisk.study.store import Store

ASSESSMENT_STORE = "assessment"
"""Kind of a store that keeps single fits of the function `assess`."""

SEARCH_STORE = "search"
"""Kind of a store that keeps single fits of `HonestSearchCV`."""

CONTINUATION_HINTS = {
    ASSESSMENT_STORE: "`truerisk assess` of the same data with --store {path} goes on with them.",
    SEARCH_STORE: "HonestSearchCV(..., store={path!r}) goes on with them.",
}


def initialise_store(
    store: Store, store_kind: str, notes: Mapping[str, str], *, mixed_versions: bool = False
) -> None:
    """Record the kind of a store and texts about it.

    Raise if the store has another kind, or if it has results by other versions of packages and
    `mixed_versions` is False.
    """
    stored_kind = store.read_note("kind")
    if stored_kind is not None and stored_kind != store_kind:
        raise BadStore(
            f"{store.path} holds {_add_article(stored_kind)}, not {_add_article(store_kind)}: "
            "give every one a store of its own."
        )
    # The error names every version that an earlier run used and that is not installed now.
    current_versions = versions()
    differing_versions = {
        f"{name} {version} (now {current_versions.get(name)})": None
        for run in store.runs()
        for name, version in run.versions.items()
        if version != current_versions.get(name)
    }
    difference_text = ", ".join(differing_versions)
    if difference_text and not mixed_versions:
        permission_hint = f" or allow it by {mention('mixed_versions', True)}."
        raise BadStore(
            f"{store.path} was begun with {difference_text}, on which numbers can depend: use the "
            f"same versions, or a new "
            f"store{'.' if store_kind == SEARCH_STORE else f',{permission_hint}'}"
        )
    store.note({"kind": store_kind, **notes})


def refuse_store_of_fits(store: Store) -> None:
    """Raise if a store holds single fits of an assessment or a search, which are no replicates."""
    store_kind = store.read_note("kind")
    if store_kind in CONTINUATION_HINTS:
        raise BadStore(
            f"{store.path} holds fits of {_add_article(store_kind)}, not a study: "
            f"{CONTINUATION_HINTS[store_kind].format(path=str(store.path))}"
        )


def _add_article(store_kind: str) -> str:
    return f"{'an' if store_kind[0] in 'aeiou' else 'a'} {store_kind}"
