"""Registries, and branches, which are modules that are imported only when they are used.

A registry is a table of names, each with the place of the object it stands for. A branch is a part
of truerisk that other calls can do without. ARCHITECTURE.md lists the branches, and `make branches`
tests the package with each of them removed.
"""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from inspect import cleandoc
from types import MappingProxyType
from typing import Any, TypeVar

from truerisk.core.arguments import shown
from truerisk.core.errors import MissingBranch, UnknownName
from truerisk.core.frozen import frozen

Found = TypeVar("Found")


def closest(name: Any, words: Iterable[str]) -> str:
    """Return the words "; did you mean …?" with the closest name, ignoring case, or nothing."""
    by_case = {str(w).casefold(): w for w in words}
    near = difflib.get_close_matches(str(name).casefold(), by_case, n=1)
    return f"; did you mean '{by_case[near[0]]}'?" if near else ""


def check_known(what: str, name: Any, words: Iterable[str], listed: str = "Known") -> None:
    """Refuse a name that is not among `words`; the message suggests the closest one.

    >>> check_known("there is no score", "AUK", ["auc"])
    Traceback (most recent call last):
    truerisk.core.errors.UnknownName: there is no score 'AUK'; did you mean 'auc'? Known: auc.
    """
    known = list(words)
    if not isinstance(name, str) or name not in known:
        near = closest(name, known) or "."
        raise UnknownName(f"{what} {shown(name)}{near} {listed}: {', '.join(known) or 'none'}.")


def lookup(name: str, values_by_name: Mapping[str, Found]) -> Found:
    """Return the value for this name; an unknown name is refused with the closest one.

    >>> lookup("auk", {"auc": 0.8})
    Traceback (most recent call last):
    truerisk.core.errors.UnknownName: there is no 'auk'; did you mean 'auc'? Known: auc.
    """
    check_known("there is no", name, values_by_name)
    return values_by_name[name]


def no_attribute(module: str, name: str, words: Iterable[str]) -> AttributeError:
    """Return the AttributeError for a name that a module lacks, with the closest name."""
    near = "" if name.startswith("_") else closest(name, words)
    return AttributeError(f"module {module!r} has no attribute {name!r}{near}", name=name)


def lazy(
    module: str, words: Iterable[str], places: Mapping[str, str] = MappingProxyType({})
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` for a module whose names are imported when they are used.

    `places` maps each name to the module that defines it. A name that is itself a submodule stands
    for that submodule.
    """

    def used(name: str) -> Any:
        if name not in places:
            raise no_attribute(module, name, words)
        check_present(places[name])
        place = import_module(places[name])
        return place if place.__name__ == f"{module}.{name}" else getattr(place, name)

    return used, lambda: sorted(words)


@frozen
class Line:
    """Entry of a registry: the place of an object (`module:attribute`) and a description."""

    where: str
    about: str

    @property
    def module(self) -> str:
        """Module of the object, without its attribute."""
        return self.where.partition(":")[0]

    def load(self) -> Any:
        """Import the module and return the object."""
        return _object_at(self.where)


@cache
def _object_at(where: str) -> Any:
    module, _, attribute = where.partition(":")
    check_present(module)
    return getattr(import_module(module), attribute)


def lines_of(package: str, table: str) -> dict[str, Line]:
    """Parse the table of a registry: name, place and sentence, separated by two spaces or more.

    A row that is indented continues the one before.

    >>> lines_of("truerisk.core", "family  family:Family  a learner with its candidates")
    {'family': Line(where='truerisk.core.family:Family', about='a learner with its candidates')}
    """
    rows = re.split(r"\n(?! )", cleandoc(table))
    cells = (re.split(r"\s{2,}", row, maxsplit=2) for row in rows)
    return {name: Line(f"{package}.{place}", about) for name, place, about in cells}


def loader_of(package: str, table: str) -> Callable[[str], Any]:
    """Return a function that imports an object of a table for `lines_of`, given its name.

    >>> load = loader_of("truerisk.core", "family  family:Family  a learner with its candidates")
    >>> load("family").__name__
    'Family'
    """
    lines = lines_of(package, table)

    def load(name: str) -> Any:
        return lines[name].load()

    return load


class Registry(dict[str, Line]):
    """Table of names that prints itself.

    >>> line = Line("truerisk.core.family:Family", "a learner with its candidates")
    >>> packages = Registry("package", {"family": line})
    >>> packages.names()
    ['family']
    >>> print(packages)
    family  a learner with its candidates
    >>> list(packages.by_name())
    ['Family']
    """

    def __init__(self, kind: str, lines: Mapping[str, Line]) -> None:
        super().__init__(lines)
        self.kind = kind

    def names(self) -> list[str]:
        """Return the names."""
        return list(self)

    def by_name(self) -> dict[str, Line]:
        """Return the entries by the name of the object that they load, which is usually a class."""
        return {line.where.rpartition(":")[2]: line for line in self.values()}

    def load(self, name: Any) -> Any:
        """Return the object called `name`; an unknown name is refused with the closest one."""
        check_known(f"there is no {self.kind}", name, self)
        return self[name].load()

    def __str__(self) -> str:
        width = max(map(len, self), default=0)
        return "\n".join(f"{name:<{width}}  {line.about}" for name, line in self.items())


def is_present(module: str) -> bool:
    """Return True if this module of truerisk, and each package above it, can be imported."""
    return _missing_part(module) is None


def check_present(module: str) -> None:
    """Refuse a call that needs a module of truerisk if the module is missing.

    >>> check_present("truerisk.methods.racing")
    """
    missing = _missing_part(module)
    if missing is not None:
        raise MissingBranch(
            f"this call needs {missing}, which is missing from this installation; "
            "install truerisk anew."
        )


def _missing_part(module: str) -> str | None:
    """Return the first missing name among the packages above a module and the module itself."""
    if module in sys.modules:
        return None
    names = module.split(".")
    parts = (".".join(names[:end]) for end in range(2, len(names) + 1))
    return next((p for p in parts if p not in sys.modules and find_spec(p) is None), None)
