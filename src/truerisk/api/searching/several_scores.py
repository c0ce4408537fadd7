"""`scoring` of several scores: which they are, and what each of them found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from truerisk.api.road.compute import Computed
from truerisk.core.arguments import shown
from truerisk.core.errors import BadArgument

__all__ = ["are_several", "named", "told_by_name"]


def are_several(scoring: Any) -> bool:
    """Whether it names several scores: a list, a tuple, a set or a dict of them."""
    return isinstance(scoring, list | tuple | set | Mapping)


def named(scoring: Any) -> dict[str, Any]:
    """The scores by their names; an empty one, other names than text and a name twice are refused.

    >>> named(["accuracy", "roc_auc"])
    {'accuracy': 'accuracy', 'roc_auc': 'roc_auc'}
    """
    names = list(scoring)
    if not names or not all(isinstance(name, str) for name in names):
        raise BadArgument(
            f"scoring={shown(scoring)}: give a list of names of scores, or a dict of scorers by "
            "name, and at least one."
        )
    if len(set(names)) < len(names):
        raise BadArgument(f"scoring={shown(scoring)} names a score twice: name each once.")
    return dict(scoring) if isinstance(scoring, Mapping) else {name: name for name in names}


def told_by_name(computed: Computed, scoring: Any) -> dict[str, Computed]:
    """What every score found, under the name that `cv_results_` has for it."""
    return computed.scores if are_several(scoring) else {"score": computed}
