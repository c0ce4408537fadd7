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


def suggestion_for(searched_name: Any, known_words: Iterable[str]) -> str:
    """Return the text "; did you mean '...'?" with the closest known name, or an empty text.

    Case is ignored.
    """
    word_by_lower_case = {str(known_word).casefold(): known_word for known_word in known_words}
    closest_words = difflib.get_close_matches(
        str(searched_name).casefold(), word_by_lower_case, n=1
    )
    return f"; did you mean '{word_by_lower_case[closest_words[0]]}'?" if closest_words else ""


def check_known(
    message_start: str, searched_name: Any, known_names: Iterable[str], list_heading: str = "Known"
) -> None:
    """Raise UnknownName unless the name is a known one; the message suggests the closest name.

    >>> check_known("there is no score", "AUK", ["auc"])
    Traceback (most recent call last):
    truerisk.core.errors.UnknownName: there is no score 'AUK'; did you mean 'auc'? Known: auc.
    """
    known_list = list(known_names)
    if not isinstance(searched_name, str) or searched_name not in known_list:
        suggestion = suggestion_for(searched_name, known_list) or "."
        raise UnknownName(
            f"{message_start} {repr_on_one_line(searched_name)}{suggestion} {list_heading}: "
            f"{', '.join(known_list) or 'none'}."
        )


def lookup(searched_name: str, values_by_name: Mapping[str, Value]) -> Value:
    """Return the value stored under a name; raise UnknownName if there is none.

    The message suggests the closest known name.

    >>> lookup("auk", {"auc": 0.8})
    Traceback (most recent call last):
    truerisk.core.errors.UnknownName: there is no 'auk'; did you mean 'auc'? Known: auc.
    """
    check_known("there is no", searched_name, values_by_name)
    return values_by_name[searched_name]


def make_attribute_error(
    module_name: str, attribute_name: str, known_names: Iterable[str]
) -> AttributeError:
    """Return the AttributeError for a name that a module lacks.

    The message suggests the closest name that the module has.
    """
    suggestion = (
        "" if attribute_name.startswith("_") else suggestion_for(attribute_name, known_names)
    )
    return AttributeError(
        f"module {module_name!r} has no attribute {attribute_name!r}{suggestion}",
        name=attribute_name,
    )


def lazy_attributes(
    module_name: str,
    attribute_names: Iterable[str],
    module_by_name: Mapping[str, str] = MappingProxyType({}),
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return functions `__getattr__` and `__dir__` that import a module's names on first use.

    `module_by_name` maps each name to the module that defines it. A name that is itself a submodule
    stands for that submodule.
    """

    def load_attribute(attribute_name: str) -> Any:
        if attribute_name not in module_by_name:
            raise make_attribute_error(module_name, attribute_name, attribute_names)
        check_present(module_by_name[attribute_name])
        defining_module = import_module(module_by_name[attribute_name])
        return (
            defining_module
            if defining_module.__name__ == f"{module_name}.{attribute_name}"
            else getattr(defining_module, attribute_name)
        )

    return load_attribute, lambda: sorted(attribute_names)


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
        return _import_object(self.object_path)


@cache
def _import_object(import_path: str) -> Any:
    module_name, _, attribute_name = import_path.partition(":")
    check_present(module_name)
    return getattr(import_module(module_name), attribute_name)


def parse_registry_table(package: str, table_text: str) -> dict[str, RegistryEntry]:
    """Parse the text of a registry, in which each line is a name, an import path and a description.

    The three entries of a line are separated by at least two spaces. An indented line continues the
    row above it.

    >>> entry = parse_registry_table("truerisk.core", "family  family:Family  a learner")["family"]
    >>> entry.object_path, entry.summary
    ('truerisk.core.family:Family', 'a learner')
    """
    table_rows = re.split(r"\n(?! )", cleandoc(table_text))
    cells_by_row = (re.split(r"\s{2,}", table_row, maxsplit=2) for table_row in table_rows)
    return {
        registered_name: RegistryEntry(f"{package}.{object_path}", summary)
        for registered_name, object_path, summary in cells_by_row
    }


def make_loader(package: str, table_text: str) -> Callable[[str], Any]:
    """Return a function that imports an object of the table by its name.

    The table is written as for `parse_registry_table`.

    >>> load = make_loader("truerisk.core", "family  family:Family  a learner with its candidates")
    >>> load("family").__name__
    'Family'
    """
    registry_entries = parse_registry_table(package, table_text)

    def load(name: str) -> Any:
        return registry_entries[name].load()

    return load


class Registry(dict[str, RegistryEntry]):
    """Registry of names, each with the import path of an object; `print` shows the table.

    >>> line = RegistryEntry("truerisk.core.family:Family", "a learner with its candidates")
    >>> packages = Registry("package", {"family": line})
    >>> packages.names()
    ['family']
    >>> print(packages)
    family  a learner with its candidates
    >>> list(packages.entries_by_object_name())
    ['Family']
    """

    def __init__(self, kind: str, entries: Mapping[str, RegistryEntry]) -> None:
        super().__init__(entries)
        self.kind = kind

    def names(self) -> list[str]:
        """Return all names in the registry."""
        return list(self)

    def entries_by_object_name(self) -> dict[str, RegistryEntry]:
        """Return the entries keyed by the name of their object, which is usually a class."""
        return {
            registry_entry.object_path.rpartition(":")[2]: registry_entry
            for registry_entry in self.values()
        }

    def load(self, name: Any) -> Any:
        """Import the object with this name; raise UnknownName for an unknown name."""
        check_known(f"there is no {self.kind}", name, self)
        return self[name].load()

    def __str__(self) -> str:
        name_width = max(map(len, self), default=0)
        return "\n".join(
            f"{registered_name:<{name_width}}  {registry_entry.summary}"
            for registered_name, registry_entry in self.items()
        )


def is_present(module_name: str) -> bool:
    """Return True if a module of truerisk, and each package above it, can be imported."""
    return _missing_module(module_name) is None


def check_present(module_name: str) -> None:
    """Raise MissingBranch if a module of truerisk is not installed.

    >>> check_present("truerisk.methods.racing")
    """
    missing_module = _missing_module(module_name)
    if missing_module is not None:
        raise MissingBranch(
            f"this call needs {missing_module}, which is missing from this installation; "
            "install truerisk anew."
        )


def _missing_module(module_name: str) -> str | None:
    """Return the first package or module on a dotted path that is not installed, or None."""
    if module_name in sys.modules:
        return None
    package_names = module_name.split(".")
    dotted_names = (
        ".".join(package_names[:n_names]) for n_names in range(2, len(package_names) + 1)
    )
    return next(
        (
            dotted_name
            for dotted_name in dotted_names
            if dotted_name not in sys.modules and find_spec(dotted_name) is None
        ),
        None,
    )
