"""Registries of names, and branches: modules that are imported only when they are used.

A registry is a table of names; each name has the import path of its object. A branch is a part of
truerisk that other calls can do without. ARCHITECTURE.md lists the branches, and `make branches`
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

from truerisk.core.arguments import repr_on_one_line
from truerisk.core.errors import MissingBranch, UnknownName
from truerisk.core.frozen import frozen

Value = TypeVar("Value")


def suggestion_for(name: Any, known_words: Iterable[str]) -> str:
    """Return the text "; did you mean '...'?" with the closest name, or an empty text.

    Case is ignored.
    """
    words_by_case = {str(word).casefold(): word for word in known_words}
    close_words = difflib.get_close_matches(str(name).casefold(), words_by_case, n=1)
    return f"; did you mean '{words_by_case[close_words[0]]}'?" if close_words else ""


def check_known(what: str, name: Any, known_names: Iterable[str], listed: str = "Known") -> None:
    """Raise UnknownName unless the name is a known one; the message suggests the closest name.

    >>> check_known("there is no score", "AUK", ["auc"])
    Traceback (most recent call last):
    truerisk.core.errors.UnknownName: there is no score 'AUK'; did you mean 'auc'? Known: auc.
    """
    known_list = list(known_names)
    if not isinstance(name, str) or name not in known_list:
        suggestion = suggestion_for(name, known_list) or "."
        raise UnknownName(
            f"{what} {repr_on_one_line(name)}{suggestion} {listed}: "
            f"{', '.join(known_list) or 'none'}."
        )


def lookup(name: str, values_by_name: Mapping[str, Value]) -> Value:
    """Return the value for this name; raise UnknownName with the closest name if there is none.

    >>> lookup("auk", {"auc": 0.8})
    Traceback (most recent call last):
    truerisk.core.errors.UnknownName: there is no 'auk'; did you mean 'auc'? Known: auc.
    """
    check_known("there is no", name, values_by_name)
    return values_by_name[name]


def no_attribute(module: str, name: str, known_names: Iterable[str]) -> AttributeError:
    """Return the AttributeError for a name that a module lacks; it suggests the closest name."""
    suggestion = "" if name.startswith("_") else suggestion_for(name, known_names)
    return AttributeError(f"module {module!r} has no attribute {name!r}{suggestion}", name=name)


def lazy_attributes(
    module: str, names: Iterable[str], places: Mapping[str, str] = MappingProxyType({})
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` for a module that imports its names when they are used.

    `places` maps each name to the module that defines it. A name that is itself a submodule stands
    for that submodule.
    """

    def used(name: str) -> Any:
        if name not in places:
            raise no_attribute(module, name, names)
        check_present(places[name])
        defining_module = import_module(places[name])
        return (
            defining_module
            if defining_module.__name__ == f"{module}.{name}"
            else getattr(defining_module, name)
        )

    return used, lambda: sorted(names)


@frozen
class RegistryEntry:
    """Entry of a registry: the import path of an object (`module:attribute`) and a description."""

    object_path: str
    summary: str

    @property
    def module(self) -> str:
        """Module of the object, without its attribute."""
        return self.object_path.partition(":")[0]

    def load(self) -> Any:
        """Import the module and return the object."""
        return _object_at(self.object_path)


@cache
def _object_at(import_path: str) -> Any:
    module, _, attribute = import_path.partition(":")
    check_present(module)
    return getattr(import_module(module), attribute)


def entries_of_table(package: str, table: str) -> dict[str, RegistryEntry]:
    """Parse the table of a registry: name, import path and description, separated by two spaces.

    A row that is indented continues the one before.

    >>> entry = entries_of_table("truerisk.core", "family  family:Family  a learner")["family"]
    >>> entry.object_path, entry.summary
    ('truerisk.core.family:Family', 'a learner')
    """
    table_rows = re.split(r"\n(?! )", cleandoc(table))
    cells = (re.split(r"\s{2,}", row, maxsplit=2) for row in table_rows)
    return {
        name: RegistryEntry(f"{package}.{object_path}", about) for name, object_path, about in cells
    }


def loader_of(package: str, table: str) -> Callable[[str], Any]:
    """Return a function that imports an object of the table by its name.

    The table is written as for `entries_of_table`.

    >>> load = loader_of("truerisk.core", "family  family:Family  a learner with its candidates")
    >>> load("family").__name__
    'Family'
    """
    entries = entries_of_table(package, table)

    def load(name: str) -> Any:
        return entries[name].load()

    return load


class Registry(dict[str, RegistryEntry]):
    """Registry of names, each with the import path of an object; `print` shows the table.

    >>> line = RegistryEntry("truerisk.core.family:Family", "a learner with its candidates")
    >>> packages = Registry("package", {"family": line})
    >>> packages.names()
    ['family']
    >>> print(packages)
    family  a learner with its candidates
    >>> list(packages.by_name())
    ['Family']
    """

    def __init__(self, kind: str, lines: Mapping[str, RegistryEntry]) -> None:
        super().__init__(lines)
        self.kind = kind

    def names(self) -> list[str]:
        """Return all names in the registry."""
        return list(self)

    def by_name(self) -> dict[str, RegistryEntry]:
        """Return the entries keyed by the name of their object, which is usually a class."""
        return {line.object_path.rpartition(":")[2]: line for line in self.values()}

    def load(self, name: Any) -> Any:
        """Import the object with this name; raise UnknownName for an unknown name."""
        check_known(f"there is no {self.kind}", name, self)
        return self[name].load()

    def __str__(self) -> str:
        width = max(map(len, self), default=0)
        return "\n".join(f"{name:<{width}}  {line.summary}" for name, line in self.items())


def is_present(module: str) -> bool:
    """Return True if a module of truerisk, and each package above it, can be imported."""
    return _missing_part(module) is None


def check_present(module: str) -> None:
    """Raise MissingBranch if a module of truerisk is not installed.

    >>> check_present("truerisk.methods.racing")
    """
    missing_module = _missing_part(module)
    if missing_module is not None:
        raise MissingBranch(
            f"this call needs {missing_module}, which is missing from this installation; "
            "install truerisk anew."
        )


def _missing_part(module: str) -> str | None:
    """Return the first name that cannot be found among the packages of a module and the module."""
    if module in sys.modules:
        return None
    names = module.split(".")
    dotted_names = (".".join(names[:n_names]) for n_names in range(2, len(names) + 1))
    return next(
        (
            dotted_name
            for dotted_name in dotted_names
            if dotted_name not in sys.modules and find_spec(dotted_name) is None
        ),
        None,
    )
