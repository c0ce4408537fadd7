"""The same evaluation in another process, with its own imports and its own hash seed."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterable
from types import ModuleType
from typing import Any

from truerisk.core.contracts import Method
from truerisk.engines.workers.processes import reusable_workers
from truerisk.testing.cases import Case, evaluate, said

__all__ = ["said_elsewhere"]


def said_elsewhere(method: Method, case: Case, seed: int) -> dict[str, Any]:
    """What the method says in a worker process."""
    workers = reusable_workers(2)  # those of the engines: another pool would end them
    answer = workers.submit(_said, _pickled(method, case), seed).result()
    if answer is None:  # a file of tests, which the other process cannot import
        answer = workers.submit(_said, _pickled(method, case, _files_of(method)), seed).result()
    if answer is None:
        raise AssertionError(f"{type(method).__name__} cannot be sent to another process.")
    return answer


def _said(sent: bytes, seed: int) -> dict[str, Any] | None:
    """Run in the worker; None where what was sent cannot be imported."""
    try:
        method, case = pickle.loads(sent)
    except (ImportError, AttributeError):
        return None
    return said(evaluate(method, case, seed=seed))


def _pickled(method: Method, case: Case, by_value: Iterable[ModuleType] = ()) -> bytes:
    """With the code of these modules; what is defined elsewhere is named only."""
    import cloudpickle

    for module in by_value:
        cloudpickle.register_pickle_by_value(module)
    try:
        sent: bytes = cloudpickle.dumps((method, case))
    finally:
        for module in by_value:
            cloudpickle.unregister_pickle_by_value(module)
    return sent


def _files_of(method: Method) -> list[ModuleType]:
    """The modules that the method's class comes from, this package's left out."""
    names = {cls.__module__ for cls in type(method).__mro__}
    return [sys.modules[n] for n in names if not n.startswith(("truerisk.", "builtins", "abc"))]
