"""Storage of single fits on disk, so that an interrupted assessment or search can be resumed.

A cell of this store holds everything that determines the predictions of a fit, except the fit's
number in its plan: learner, settings, data, plan, request and seed. Neither methods nor engines
depend on the store.

Learners and data are converted to plain values, from which a key is computed (`values.py`). The
behaviour of a class or function is identified by its import path and the version of its package, or
by a hash of its source if the package has no version. A parameter that cannot be converted is
refused with an error that names it.
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
from truerisk.core.arguments import to_store_path
from truerisk.core.errors import Refusal
from truerisk.core.family import Family
from truerisk.core.formats import escape_and_truncate
from truerisk.core.identity import is_from
from truerisk.data.data import Data
from truerisk.data.rows import column_names, digest
from truerisk.engines.workers.crews import versions
from truerisk.plan.plan import Plan
from truerisk.study.schema import State, TaskOutcome
from truerisk.study.store import Store
from truerisk.study.values import hash_array, hash_plain_value, pack_result, to_canonical_json
from truerisk.study.versions import ASSESSMENT_STORE, initialise_store

MIN_COMMIT_SECONDS = 1.0  # Fits that end within so many seconds share a transaction.
COMMIT_SIZE = 1_000
COMMIT_PAUSE_FACTOR = 20.0  # The pause is this multiple of the last transaction's duration.
VERSION_CHECKED_PACKAGES = {
    "builtins",
    "numpy",
    "scipy",
    "sklearn",
    "truerisk",
    *sys.stdlib_module_names,
}
"""Packages whose versions are compared with those of earlier runs when the store is opened.

Classes and functions of other packages carry a version or hash in the key of a fit.
"""


@contextmanager
def open_fit_store(
    path: str | os.PathLike[str],
    learners: Mapping[str, Family],
    *,
    scorers: Sequence[Any] = (),
    workers: int = 1,
    mixed_versions: bool = False,
    store_kind: str = ASSESSMENT_STORE,
) -> Iterator[FitStoreOnDisk]:
    """Open a store file for the fits of these learners; the file is created if needed.

    A learner or a scorer that cannot be converted to a key is refused at the start. All fits are
    written when the block ends, also after an error, except after SIGKILL.
    """
    for scorer in scorers:
        to_key_content(scorer, "loss")
    learner_contents = {
        id(family): (family, *learner_content(family, name)) for name, family in learners.items()
    }
    store_path = to_store_path(path)
    with Store.open_for_writing(store_path) as store:
        initialise_store(
            store, store_kind, {"name": store_path.name}, mixed_versions=mixed_versions
        )
        store.begin_run(workers, versions())
        fit_store = FitStoreOnDisk(store, learner_contents)
        try:
            yield fit_store
        finally:
            fit_store.flush()
            store.end_run()


class FitStoreOnDisk:
    """`FitStore` that writes each fit to disk within about a second."""

    def __init__(self, store: Store, learners: Mapping[int, tuple[Family, Any, list[Any]]]) -> None:
        self.store = store
        self.n_found = self.n_added = 0
        self._learners = dict(learners)
        self._data: dict[int, tuple[Data, str]] = {}
        self.cells = {cell.key: cell for cell in store.cells()}
        self.was_empty = not self.cells
        self.waiting: list[tuple[_FitCache, int, Mapping[str, Any], float]] = []
        self._stored_at = time.monotonic()
        # This is the duration of the last transaction, which is mostly waiting for the disk.
        self._last_write_seconds = 0.0

    def register_candidates(
        self, family: Family, registered_family: Family, candidates: slice
    ) -> None:
        """Register `family`, which holds a part of the candidates of `registered_family`.

        Fits of a part of the candidates can then be requested separately.
        """
        _, estimator, settings = self._learners[id(registered_family)]
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
        """Return the cache that loads and stores the fits of these candidates."""
        _, estimator, settings = self._learners[id(family)]
        cell_content = {
            "fits": engine,
            "learner": estimator,
            "settings": [settings[candidate] for candidate in candidates],
            "data": self._data_key(data),
            "plan": plan.fingerprint,
            "response": request.response,
            "scorer": to_key_content(request.scorer, "loss"),
            "seed": seed,
        }
        if request.also:
            cell_content["also"] = [
                [further_request.response, to_key_content(further_request.scorer, "loss")]
                for further_request in request.also
            ]
        return _FitCache(self, cell_content, plan.n_fits, len(candidates))

    def flush_when_due(self) -> None:
        """Write the waiting fits if there are many, or if the last write is long ago."""
        pause_seconds = max(MIN_COMMIT_SECONDS, COMMIT_PAUSE_FACTOR * self._last_write_seconds)
        is_due = time.monotonic() - self._stored_at > pause_seconds
        if is_due or len(self.waiting) >= COMMIT_SIZE:
            self.flush()

    def flush(self) -> None:
        """Write all fits that are not yet on disk, in one transaction."""
        if not self.waiting:
            return
        start_time = time.monotonic()
        # Cells that the store does not have yet are created before their first fit is written.
        new_caches = {
            fit_cache.key: fit_cache
            for fit_cache, *_ in self.waiting
            if fit_cache.key not in self.cells
        }
        for n_fits in {fit_cache.n_fits for fit_cache in new_caches.values()}:
            cell_contents = [
                fit_cache.content for fit_cache in new_caches.values() if fit_cache.n_fits == n_fits
            ]
            self.cells |= {
                cell.key: cell for cell in self.store.request_replicates(cell_contents, n_fits)
            }
        outcomes = []
        for fit_cache, fit_number, fit_content, seconds in self.waiting:
            packed_fit, cell = pack_result(fit_content), self.cells[fit_cache.key]
            outcomes.append(
                TaskOutcome(
                    cell.id, fit_number, State.DONE, seconds, packed_fit.text, packed_fit.npy
                )
            )
        self.store.save(outcomes)
        self.waiting = []
        self._stored_at = time.monotonic()
        self._last_write_seconds = self._stored_at - start_time

    def _data_key(self, data: Data) -> str:
        """Return the hash of a `Data` object, which is computed only once for all fits."""
        if id(data) not in self._data:
            self._data[id(data)] = data, hash_plain_value(data_content(data))
        return self._data[id(data)][1]


class _FitCache:
    """Cache of the fits of one plan and one set of candidates (a `FitCache`)."""

    def __init__(
        self, fit_store: FitStoreOnDisk, content: Mapping[str, Any], n_fits: int, n_candidates: int
    ) -> None:
        self.content, self.n_fits, self.n_candidates = content, n_fits, n_candidates
        self.key = hash_plain_value(content)
        self._fit_store = fit_store

    def load_fits(self, fits: Container[int]) -> Iterator[tuple[int, Mapping[str, Any]]]:
        cell = self._fit_store.cells.get(self.key)
        for fit, _, _, fit_content in () if cell is None else self._fit_store.store.results(cell):
            if fit in fits:
                self._fit_store.n_found += self.n_candidates
                yield fit, fit_content

    def save_fit(self, fit: int, content: Mapping[str, Any], seconds: float) -> None:
        self._fit_store.waiting.append((self, fit, content, seconds))
        self._fit_store.n_added += self.n_candidates
        self._fit_store.flush_when_due()


# ---------------------------------------------------------------- keys of learners and data


def learner_content(family: Family, name: str) -> tuple[Any, list[Any]]:
    """Convert the estimator and all candidate settings to plain values, for the key of a fit."""
    message_label = f"learner {escape_and_truncate(name, 40)!r}"
    estimator = to_key_content(family.estimator, message_label)
    return estimator, [
        to_key_content(dict(setting), message_label) for setting in family.candidates
    ]


def data_content(data: Data) -> dict[str, Any]:
    """Return hashes of all data that a fit receives: X, y, groups, weights and fit parameters.

    The hashes depend on the memory order of arrays, which affects the last bits of results.
    """
    y = next(iter(data.targets(data.y)), data.y)  # This is the y that `fit` receives.
    fit_inputs = {"X": data.X, "y": y, "groups": data.groups, "weights": data.sample_weight}
    table_contents = {
        name: None if table is None else _table_content(table) for name, table in fit_inputs.items()
    }
    fit_param_contents = {
        name: _table_content(value)
        if hasattr(value, "shape")
        else to_key_content(value, f"fit's {name}")
        for name, value in data.fit_params.items()
    }
    return {"task": data.task, **table_contents, "fit_params": fit_param_contents}


def _table_content(table: Any) -> dict[str, Any]:
    """Return the properties that distinguish tables: class, shape, dtypes, names, hash of cells."""
    table_content: dict[str, Any] = {
        "kind": _import_path(type(table)),
        "shape": list(np.shape(table)),
    }
    if isinstance(table, np.ndarray) and not table.dtype.hasobject:
        return table_content | {"digest": hash_array(table), "by_columns": bool(table.flags.fnc)}
    column_types = getattr(table, "dtypes", getattr(getattr(table, "schema", None), "types", ()))
    return table_content | {
        "digest": digest(table),
        "names": column_names(table),
        "types": [
            _column_type(column_type)
            for column_type in (column_types if np.iterable(column_types) else (column_types,))
        ],
    }


def _column_type(column_type: Any) -> list[str]:
    """Return a column's dtype as text, and its categories in order, which may affect learners."""
    categories = getattr(column_type, "categories", None)
    category_values = categories if categories is not None and np.iterable(categories) else ()
    return [repr(column_type), *map(repr, category_values)]


def to_key_content(value: Any, message_label: str) -> Any:
    """Convert a parameter to plain values, or raise an error that names it by `message_label`.

    >>> to_key_content({"k": (1, 2.5), "missing": float("nan")}, "learner 'a'")
    {'dict': [['k', {'tuple': [1, 2.5]}], ['missing', {'float': 'nan'}]]}
    """
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {"float": repr(value)}
    if isinstance(value, np.ndarray | np.generic):
        return _array_content(np.asarray(value), message_label)
    if type(value) in (list, tuple, set, frozenset, dict):
        return _container_content(value, message_label)
    if type(value) in (slice, range, bytes, complex, np.dtype) or isinstance(value, np.dtype):
        return {type(value).__name__: repr(value)}
    if isinstance(value, type) or (callable(value) and hasattr(value, "__name__")):
        return _code_content(value, message_label)
    if hasattr(value, "get_params"):
        # An estimator is determined by its class and its parameters, as `clone` assumes.
        from sklearn.base import BaseEstimator

        clone_method = getattr(type(value), "__sklearn_clone__", None)
        if clone_method not in (None, BaseEstimator.__sklearn_clone__):
            raise _refusal(value, message_label)  # A frozen model has state beyond its parameters.
        estimator_content = {
            "class": _code_content(type(value), message_label),
            "params": _contents_by_name(value.get_params(deep=False), message_label),
        }
        # `set_output` and `set_fit_request` set these attributes, which `clone` copies.
        for name in ("_sklearn_output_config", "_metadata_request"):
            if hasattr(value, name):
                estimator_content[name] = repr(getattr(value, name))
        return estimator_content
    # Splitters and scorers of scikit-learn are determined by their attributes.
    if is_from(value, "sklearn") and hasattr(value, "__dict__"):
        return {
            "object": _import_path(type(value)),
            "holds": _contents_by_name(vars(value), message_label),
        }
    raise _refusal(value, message_label)


def _array_content(array: np.ndarray, message_label: str) -> Any:
    if array.dtype.hasobject:
        return {
            "objects": to_key_content(array.tolist(), message_label),
            "shape": list(array.shape),
        }
    return {"array": hash_array(array), "shape": list(array.shape)}


def _container_content(value: Any, message_label: str) -> Any:
    if type(value) is dict:
        key_value_pairs = [
            [to_key_content(k, message_label), to_key_content(v, _label_inside(message_label, k))]
            for k, v in value.items()
        ]
        return {"dict": key_value_pairs}
    element_contents = [to_key_content(element, message_label) for element in value]
    if type(value) is list:
        return element_contents
    return {
        type(value).__name__: element_contents
        if type(value) is tuple
        else sorted(element_contents, key=to_canonical_json)
    }


def _contents_by_name(values: Mapping[str, Any], message_label: str) -> dict[str, Any]:
    return {
        name: to_key_content(values[name], _label_inside(message_label, name))
        for name in sorted(values)
    }


def _label_inside(message_label: str, name: Any) -> str:
    return f"{message_label}: {name}" if ": " not in message_label else f"{message_label}__{name}"


def _code_content(value: Any, message_label: str) -> Any:
    """Convert a class or function to its import path and its version or source hash.

    Raise if it cannot be imported by that path.
    """
    imported_value: Any = sys.modules.get(_module_name(value))
    for name in _qualified_name(value).split("."):
        imported_value = getattr(imported_value, name, None)
    if imported_value is not value:
        raise _refusal(value, message_label)
    versions_by_path = {
        _import_path(definition): _version_and_hash(definition, message_label)
        for definition in (value.__mro__ if isinstance(value, type) else (value,))
    }
    return {
        "place": _import_path(value),
        **{k: v for k, v in versions_by_path.items() if v is not None},
    }


def _version_and_hash(value: Any, message_label: str) -> list[str] | None:
    """Return the version of the package and a hash of the source of a class or function.

    Return None for packages whose version the store compares itself.
    """
    package = _module_name(value).partition(".")[0]
    if package in VERSION_CHECKED_PACKAGES:
        return None
    version = getattr(sys.modules.get(package), "__version__", None)
    version_and_hash = [version] if isinstance(version, str) else []
    try:
        version_and_hash.append(hash_plain_value(inspect.getsource(value)))
    except (OSError, TypeError):
        if not version_and_hash:
            raise _refusal(value, message_label) from None
    return version_and_hash


def _qualified_name(value: Any) -> str:
    return str(getattr(value, "__qualname__", getattr(value, "__name__", "")))


def _import_path(value: Any) -> str:
    return f"{_module_name(value)}:{_qualified_name(value)}"


def _module_name(value: Any) -> str:
    """Return the name of the module that defines an object; ufuncs of older NumPy lack it."""
    module_name = getattr(value, "__module__", None)
    return "numpy" if module_name is None and isinstance(value, np.ufunc) else str(module_name)


def _refusal(value: Any, message_label: str) -> Refusal:
    value_text = escape_and_truncate(" ".join(repr(value).split()), 60)
    return Refusal(
        f"{message_label} is {value_text}, which cannot be written down as a key: a store takes "
        "models with get_params whose parameters are numbers, words, arrays, models, and classes "
        "and functions of modules. Give such a value, or leave store out."
    )
