"""A store holds one kind of study, computed with one set of versions."""

from __future__ import annotations

from collections.abc import Mapping

from truerisk.core.arguments import mention
from truerisk.core.errors import BadStore
from truerisk.engines.workers.crews import versions
from truerisk.study.store import Store

ASSESSMENT = "assessment"
"""The kind of store that keeps single fits of `assess`."""

SEARCH = "search"
"""The kind of store that keeps single fits of `HonestSearchCV`."""

GOES_ON = {
    ASSESSMENT: "`truerisk assess` of the same data with --store {path} goes on with them.",
    SEARCH: "HonestSearchCV(..., store={path!r}) goes on with them.",
}


def begin(
    store: Store, kind: str, about: Mapping[str, str], *, mixed_versions: bool = False
) -> None:
    """Note what the store is for; refuse another kind, and results of other versions."""
    held = store.noted("kind")
    if held is not None and held != kind:
        raise BadStore(
            f"{store.path} holds {_with_article(held)}, not {_with_article(kind)}: "
            "give every one a store of its own."
        )
    # Results of other versions may differ: each that ran before and is not installed is named.
    here = versions()
    then = {
        f"{name} {version} (now {here.get(name)})": None
        for run in store.runs()
        for name, version in run.versions.items()
        if version != here.get(name)
    }
    other = ", ".join(then)
    if other and not mixed_versions:
        allowed = f" or allow it by {mention('mixed_versions', True)}."
        raise BadStore(
            f"{store.path} was begun with {other}, on which numbers can depend: use the same "
            f"versions, or a new store{'.' if kind == SEARCH else f',{allowed}'}"
        )
    store.note({"kind": kind, **about})


def refuse_fits(store: Store) -> None:
    """Fits of an assessment or of a search are no replicates."""
    kind = store.noted("kind")
    if kind in GOES_ON:
        raise BadStore(
            f"{store.path} holds fits of {_with_article(kind)}, not a study: "
            f"{GOES_ON[kind].format(path=str(store.path))}"
        )


def _with_article(kind: str) -> str:
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"
