"""A store of single fits, so that an interrupted assessment or search can be resumed.

A cell holds everything that determines the predictions of a fit, except its number: learner,
settings, data, plan, request and seed. The number is that of the fit in its plan. Neither methods
nor engines know the store.

Learners and data are written as plain values, so that they have a key (`values.py`). The behaviour
of a class or function is identified by its import path and the version of its package, or by a hash
of its source if there is no version. What cannot be written as plain values is refused by name.
"""

from __future__ import annotations

import inspect
import math
import os
import sys
import time
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from truerisk.contracts import Request
from truerisk.core.arguments import store_of
from truerisk.core.errors import Refusal
from truerisk.core.family import Family
from truerisk.core.formats import clean
from truerisk.core.identity import is_from
from truerisk.data.data import Data
from truerisk.data.rows import column_names, digest
from truerisk.engines.workers.crews import versions
from truerisk.plan.plan import Plan
from truerisk.study.schema import Fate, State
from truerisk.study.store import Store
from truerisk.study.values import canonical, digest_of, key_of, pack
from truerisk.study.versions import ASSESSMENT, begin

COMMIT_EVERY = 1.0  # Seconds. Fits that end in between share a transaction.
COMMIT_SIZE = 1_000
COMMIT_PAUSE = 20.0  # multiple of the last transaction's duration
COMPARED = {"builtins", "numpy", "scipy", "sklearn", "truerisk", *sys.stdlib_module_names}
"""Packages whose versions the store compares."""


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
    """Store fits of these learners in a file, which is created if needed.

    A learner or a scorer without a key is refused first. Results are stored at the end, however it
    ends, except after SIGKILL.
    """
    for scorer in scorers:
        content_of(scorer, "loss")
    contents = {id(f): (f, *learner_content(f, name)) for name, f in learners.items()}
    place = store_of(path)
    with Store.write(place) as store:
        begin(store, kind, {"name": place.name}, mixed_versions=mixed_versions)
        store.begin(workers, versions())
        fit_store = Keeping(store, contents)
        try:
            yield fit_store
        finally:
            fit_store.flush()
            store.end()


class Keeping:
    """`FitStore` that writes fits to disk within about a second."""

    def __init__(self, store: Store, learners: Mapping[int, tuple[Family, Any, list[Any]]]) -> None:
        self.store = store
        self.n_found = self.n_added = 0
        self._learners = dict(learners)
        self._data: dict[int, tuple[Data, str]] = {}
        self.cells = {cell.key: cell for cell in store.cells()}
        self.was_empty = not self.cells
        self.waiting: list[tuple[_FitCache, int, Mapping[str, Any], float]] = []
        self._stored_at = time.monotonic()
        self._storing = 0.0  # seconds of the last transaction, most of them waits for the disk

    def part(self, family: Family, of: Family, candidates: slice) -> None:
        """Register some settings of a known learner that are requested separately."""
        _, estimator, settings = self._learners[id(of)]
        self._learners[id(family)] = family, estimator, settings[candidates]

    def cache_for(
        self,
        engine: str,
        family: Family,
        candidates: Sequence[int],
        data: Data,
        plan: Plan,
        request: Request,
        seed: int,
    ) -> _FitCache:
        """Return the storage for the fits of these candidates."""
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
        return _FitCache(self, content, plan.n_fits, len(candidates))

    def flush_when_due(self) -> None:
        """Write the waiting fits if there are enough, or if the last write is long ago."""
        pause = max(COMMIT_EVERY, COMMIT_PAUSE * self._storing)
        due = time.monotonic() - self._stored_at > pause
        if due or len(self.waiting) >= COMMIT_SIZE:
            self.flush()

    def flush(self) -> None:
        """Write the waiting fits to disk."""
        if not self.waiting:
            return
        started = time.monotonic()
        # A cell is created in the store together with its first fit.
        new = {
            fit_cache.key: fit_cache
            for fit_cache, *_ in self.waiting
            if fit_cache.key not in self.cells
        }
        for n_fits in {fit_cache.n_fits for fit_cache in new.values()}:
            contents = [
                fit_cache.content for fit_cache in new.values() if fit_cache.n_fits == n_fits
            ]
            self.cells |= {cell.key: cell for cell in self.store.want(contents, n_fits)}
        fates = []
        for fit_cache, fit, content, seconds in self.waiting:
            packed, cell = pack(content), self.cells[fit_cache.key]
            fates.append(Fate(cell.id, fit, State.DONE, seconds, packed.text, packed.npy))
        self.store.save(fates)
        self.waiting = []
        self._stored_at = time.monotonic()
        self._storing = self._stored_at - started

    def _key_of(self, data: Data) -> str:
        """Return the key of the data, which is hashed once for all fits."""
        if id(data) not in self._data:
            self._data[id(data)] = data, key_of(data_content(data))
        return self._data[id(data)][1]


class _FitCache:
    """Storage for fits that differ only by their number; `FitCache` in core/contracts."""

    def __init__(
        self, keeping: Keeping, content: Mapping[str, Any], n_fits: int, n_candidates: int
    ) -> None:
        self.content, self.n_fits, self.n_candidates = content, n_fits, n_candidates
        self.key = key_of(content)
        self._keeping = keeping

    def stored(self, fits: Container[int]) -> Iterator[tuple[int, Mapping[str, Any]]]:
        cell = self._keeping.cells.get(self.key)
        for fit, _, _, content in () if cell is None else self._keeping.store.results(cell):
            if fit in fits:
                self._keeping.n_found += self.n_candidates
                yield fit, content

    def keep(self, fit: int, content: Mapping[str, Any], seconds: float) -> None:
        self._keeping.waiting.append((self, fit, content, seconds))
        self._keeping.n_added += self.n_candidates
        self._keeping.flush_when_due()


# ---------------------------------------------------------------- learners and data as contents


def learner_content(family: Family, name: str) -> tuple[Any, list[Any]]:
    """Return the estimator and all candidate settings as plain values."""
    where = f"learner {clean(name, 40)!r}"
    estimator = content_of(family.estimator, where)
    return estimator, [content_of(dict(given), where) for given in family.candidates]


def data_content(data: Data) -> dict[str, Any]:
    """Return everything that a fit receives, as hashes, including memory order.

    The memory order affects the last bits of results.
    """
    y = next(iter(data.targets(data.y)), data.y)  # in the form that fits are given
    parts = {"X": data.X, "y": y, "groups": data.groups, "weights": data.sample_weight}
    tables = {name: None if table is None else _table(table) for name, table in parts.items()}
    params = {
        name: _table(value) if hasattr(value, "shape") else content_of(value, f"fit's {name}")
        for name, value in data.fit_params.items()
    }
    return {"task": data.task, **tables, "fit_params": params}


def _table(table: Any) -> dict[str, Any]:
    """Return what distinguishes tables: kind, types, names and cells."""
    content: dict[str, Any] = {"kind": _place(type(table)), "shape": list(np.shape(table))}
    if isinstance(table, np.ndarray) and not table.dtype.hasobject:
        return content | {"digest": digest_of(table), "by_columns": bool(table.flags.fnc)}
    types = getattr(table, "dtypes", getattr(getattr(table, "schema", None), "types", ()))
    return content | {
        "digest": digest(table),
        "names": column_names(table),
        "types": [_type(kind) for kind in (types if np.iterable(types) else (types,))],
    }


def _type(of_column: Any) -> list[str]:
    """Return a column's type; learners may depend on the order of categories."""
    categories = getattr(of_column, "categories", None)
    listed = categories if categories is not None and np.iterable(categories) else ()
    return [repr(of_column), *map(repr, listed)]


def content_of(value: Any, where: str) -> Any:
    """Convert a parameter to plain values; `where` names it in the error if that is impossible.

    >>> content_of({"k": (1, 2.5), "missing": float("nan")}, "learner 'a'")
    {'dict': [['k', {'tuple': [1, 2.5]}], ['missing', {'float': 'nan'}]]}
    """
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {"float": repr(value)}
    if isinstance(value, np.ndarray | np.generic):
        return _array(np.asarray(value), where)
    if type(value) in (list, tuple, set, frozenset, dict):
        return _several(value, where)
    if type(value) in (slice, range, bytes, complex, np.dtype) or isinstance(value, np.dtype):
        return {type(value).__name__: repr(value)}
    if isinstance(value, type) or (callable(value) and hasattr(value, "__name__")):
        return _code(value, where)
    if hasattr(value, "get_params"):
        # An estimator is determined by its class and parameters, as for `clone`.
        from sklearn.base import BaseEstimator

        copying = getattr(type(value), "__sklearn_clone__", None)
        if copying not in (None, BaseEstimator.__sklearn_clone__):
            raise _refusal(value, where)  # A frozen model has state beyond its parameters.
        content = {
            "class": _code(type(value), where),
            "params": _named(value.get_params(deep=False), where),
        }
        # `set_output` and `set_fit_request` set these attributes, which `clone` copies.
        for name in ("_sklearn_output_config", "_metadata_request"):
            if hasattr(value, name):
                content[name] = repr(getattr(value, name))
        return content
    # This is a splitter or a scorer, for example.
    if is_from(value, "sklearn") and hasattr(value, "__dict__"):
        return {"object": _place(type(value)), "holds": _named(vars(value), where)}
    raise _refusal(value, where)


def _array(array: np.ndarray, where: str) -> Any:
    if array.dtype.hasobject:
        return {"objects": content_of(array.tolist(), where), "shape": list(array.shape)}
    return {"array": digest_of(array), "shape": list(array.shape)}


def _several(value: Any, where: str) -> Any:
    if type(value) is dict:
        pairs = [[content_of(k, where), content_of(v, _inside(where, k))] for k, v in value.items()]
        return {"dict": pairs}
    items = [content_of(item, where) for item in value]
    if type(value) is list:
        return items
    return {type(value).__name__: items if type(value) is tuple else sorted(items, key=canonical)}


def _named(values: Mapping[str, Any], where: str) -> dict[str, Any]:
    return {name: content_of(values[name], _inside(where, name)) for name in sorted(values)}


def _inside(where: str, name: Any) -> str:
    return f"{where}: {name}" if ": " not in where else f"{where}__{name}"


def _code(value: Any, where: str) -> Any:
    """Return an importable class or function by its path, with its version or hash."""
    importable: Any = sys.modules.get(_module(value))
    for name in _name(value).split("."):
        importable = getattr(importable, name, None)
    if importable is not value:
        raise _refusal(value, where)
    editions = {
        _place(kind): _edition(kind, where)
        for kind in (value.__mro__ if isinstance(value, type) else (value,))
    }
    return {"place": _place(value), **{k: v for k, v in editions.items() if v is not None}}


def _edition(value: Any, where: str) -> list[str] | None:
    """Return package version and source hash; None if the store compares versions itself."""
    package = _module(value).partition(".")[0]
    if package in COMPARED:
        return None
    version = getattr(sys.modules.get(package), "__version__", None)
    edition = [version] if isinstance(version, str) else []
    try:
        edition.append(key_of(inspect.getsource(value)))
    except (OSError, TypeError):
        if not edition:
            raise _refusal(value, where) from None
    return edition


def _name(value: Any) -> str:
    return str(getattr(value, "__qualname__", getattr(value, "__name__", "")))


def _place(value: Any) -> str:
    return f"{_module(value)}:{_name(value)}"


def _module(value: Any) -> str:
    """Return the module of an object; functions of older NumPy do not have one."""
    named = getattr(value, "__module__", None)
    return "numpy" if named is None and isinstance(value, np.ufunc) else str(named)


def _refusal(value: Any, where: str) -> Refusal:
    shown = clean(" ".join(repr(value).split()), 60)
    return Refusal(
        f"{where} is {shown}, which cannot be written down as a key: a store takes models with "
        "get_params whose parameters are numbers, words, arrays, models, and classes and functions "
        "of modules. Give such a value, or leave store out."
    )
