"""A function in a user's file, imported only where the user allows it."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import click

from truerisk.core.errors import TrueRiskError, UnknownName

__all__ = ["call_factory", "load_factory", "run_code"]


def load_factory(place: str, *, allowed: bool) -> Any:
    """The function behind `file.py:name` or `package.module:name`; importing it runs that code."""
    origin, colon, name = place.rpartition(":")
    if not colon or not origin or not name.isidentifier():
        raise click.UsageError(f"{place!r} names no function: write file.py:name or module:name.")
    if not allowed:
        raise click.UsageError(
            f"{origin} is code and would be run: add --allow-import if you trust it."
        )
    module = _from_file(Path(origin)) if origin.endswith(".py") else _from_module(origin)
    if not callable(getattr(module, name, None)):
        from truerisk.core.registry import closest

        known = [n for n, value in vars(module).items() if callable(value)]
        raise UnknownName(f"{origin} has no function {name!r}{closest(name, known) or '.'}")
    return getattr(module, name)


def _from_file(path: Path) -> Any:
    from importlib.util import module_from_spec, spec_from_file_location

    if not path.is_file():
        raise UnknownName(f"there is no file {str(path)!r}.")
    spec = spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    run_code(lambda: spec.loader.exec_module(module), str(path))
    return module


def _from_module(name: str) -> Any:
    from importlib import import_module

    return run_code(lambda: import_module(name), name)


def call_factory(factory: Any, X: Any, y: Any) -> Any:
    """What the function makes, called with the rows where it takes two arguments."""
    name = getattr(factory, "__name__", "the factory")
    wanted = [
        p
        for p in inspect.signature(factory).parameters.values()
        if p.default is inspect.Parameter.empty and p.kind is not p.VAR_KEYWORD
    ]
    if len(wanted) not in (0, 2):
        raise UnknownName(f"{name} takes {len(wanted)} arguments: it must take none, or X and y.")
    return run_code(lambda: factory(X, y) if wanted else factory(), name)


def run_code(code: Any, name: str) -> Any:
    """The user's code; what it raises is said in one sentence."""
    try:
        return code()
    except TrueRiskError:
        raise
    except Exception as error:
        raise TrueRiskError(f"{name} failed: {type(error).__name__}: {error}") from error
