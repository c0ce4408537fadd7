"""What a search that is given in the place of a grid may not bring, and may not be told besides."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

from sklearn.utils.validation import has_fit_parameter

from truerisk.api.auditing.on_state import study_given
from truerisk.api.searching.several_scores import are_several
from truerisk.core.arguments import shown
from truerisk.core.errors import BadArgument, Refusal
from truerisk.core.present import clean

__all__ = ["marks", "refuse_changed", "refuse_groups", "refuse_state", "refuse_words"]

OWN = {  # what speaks of the settings of a grid, with the value that says nothing
    "select_by": None,
    "rule": "min",
    "cv": None,
    "time_limit": None,
    "store": None,
    "error_score": "raise",
    "return_train_score": False,
    "verbose": 0,
}


def refuse_words(search: Any, kind: str) -> None:
    """Words on the settings of a grid, which a search that was given tries in its own way."""
    heard = {*search.estimator.get_params(deep=False), "select_by"}  # which is its cv
    for name, unsaid in OWN.items():
        said = getattr(search, name, unsaid)
        if isinstance(said, type(unsaid)) and said == unsaid:
            continue
        remedy = f"say it to {kind}, or give a model and a grid"
        raise BadArgument(
            f"{name}={shown(said)} speaks of the settings of a grid, and {kind} tries its own: "
            f"{remedy if name in heard else 'give a model and a grid'}."
        )
    if callable(search.refit):
        raise BadArgument(
            f"refit={shown(search.refit)} chooses a setting, and {kind} chooses its own: use "
            "refit=True."
        )
    if are_several(search.scoring):
        raise BadArgument(
            f"scoring={shown(search.scoring)}: {kind} chooses by its own score. Name the one for "
            "the honest risk, and the others as scores=."
        )


def refuse_groups(search: Any, groups: Any) -> None:
    """A search that takes no groups would cut them in its own splits."""
    if groups is None or has_fit_parameter(search, "groups") or _takes_any(search):
        return
    raise Refusal(
        f"{type(search).__name__}.fit takes no groups, so that its own splits would cut them, and "
        "its choice would rest on rows that it has seen: use a search that takes groups."
    )


def _takes_any(search: Any) -> bool:
    from inspect import Parameter, signature

    given = signature(search.fit).parameters.values()
    return any(one.kind is Parameter.VAR_KEYWORD for one in given)


def refuse_state(search: Any) -> None:
    """What a clone goes on with: a study, an iterator; and splits that hold for all rows only."""
    kind = type(search).__name__
    if study_given(search):
        raise Refusal(
            f"{kind} was given a study, which goes on learning over fits and clones: inside the "
            "outer splits it would know the rows that test. Give study=None."
        )
    for name, value in search.get_params(deep=True).items():
        if isinstance(value, Iterator):
            raise Refusal(
                f"{name} of {kind} is {clean(shown(value), 60)}, which the first fit uses up: give "
                "a list or a splitter."
            )
        if name.rpartition("__")[2] == "cv" and isinstance(value, list | tuple):
            raise Refusal(
                f"{name} of {kind} lists splits by the numbers of all rows, and in an outer "
                "training set these are other rows: give a splitter, such as KFold(5)."
            )


def marks(search: Any) -> dict[str, str]:
    """What the parameters of a search hold, as far as it can be written."""
    found = {}
    for name, value in search.get_params(deep=True).items():
        try:
            found[name] = sha256(pickle.dumps(value)).hexdigest()
        except Exception:  # noqa: BLE001  a function of a notebook, a lock: nothing can be seen
            continue
    return found


def refuse_changed(search: Any, before: Mapping[str, str]) -> None:
    """Parameters that a fit of a clone has changed: they are shared by all clones."""
    now = marks(search)
    changed = [name for name, mark in before.items() if now.get(name) != mark]
    if changed:
        raise Refusal(
            f"{clean(', '.join(changed), 120)} of {type(search).__name__} changed while a clone of "
            "it was fitted: what is learned in one fit survives into the next, and inside the "
            "outer splits it would know the rows that test. Give an object that clone() copies."
        )
