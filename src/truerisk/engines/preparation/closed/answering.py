"""The steps of one preparation in closed form, and what they give of each train set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from truerisk.core.table.data import Data
from truerisk.engines.preparation.closed.forms import Form
from truerisk.engines.preparation.closed.joining import in_turn
from truerisk.engines.preparation.closed.registry import form_of
from truerisk.engines.preparation.closed.source import Cells, Source
from truerisk.engines.preparation.closed.table import Refused, rendered

__all__ = ["closed_steps"]

Read = TypeVar("Read", bound=Any)

SOURCES: WeakKeyDictionary[Data, Source | None] = WeakKeyDictionary()
FORMS: WeakKeyDictionary[Any, Form | None] = WeakKeyDictionary()


def closed_steps(
    preparation: Any,
    data: Data,
    train: tuple[np.ndarray, np.ndarray | None],
    y: np.ndarray,
    asked: Sequence[np.ndarray],
    read: Callable[[Any], Read],
) -> tuple[Read, list[Read]] | None:
    """As `fitted_steps`; None where scikit-learn's own steps are to be fitted."""
    form, source = _kept(FORMS, preparation, _form), _kept(SOURCES, data, _source)
    if form is None or source is None:
        return None
    rows, times = train
    every = rows if times is None else np.repeat(rows, times)
    said = y if times is None else np.repeat(y, times, axis=0)
    try:
        with np.errstate(all="ignore"):  # what is not finite is refused
            table, apply = form(Cells.of(source, every), said)
            given = rendered(table)
            tested = _asked(apply, source, asked)
    except Refused:
        return None
    X = read(given)
    if times is not None:  # equal rows stay equal
        X = X[np.concatenate([[0], np.cumsum(times)[:-1]])]
    if len(asked) < 2:
        return X, [read(one) for one in tested]
    together, ends = read(tested[0]), np.cumsum([0, *map(len, asked)])
    return X, [together[np.arange(*ends_of)] for ends_of in pairwise(ends)]


def _asked(apply: Any, source: Source, asked: Sequence[np.ndarray]) -> list[Any]:
    """The rows of all questions at once: no step looks at other rows."""
    if not asked:
        return []
    return [rendered(apply(Cells.of(source, np.concatenate(asked))))]


def _kept(kept: Any, key: Any, make: Callable[[Any], Any]) -> Any:
    if key not in kept:
        try:
            kept[key] = make(key)
        except Refused:
            kept[key] = None
    return kept[key]


def _source(data: Data) -> Source:
    return Source(data.X)


def _form(preparation: Any) -> Form:
    from sklearn import get_config

    config = get_config()
    if config["transform_output"] != "default" or config.get("sparse_interface", "") == "sparray":
        raise Refused("tables of another kind between steps")
    return in_turn([form_of(step) for _, step in preparation.steps])
