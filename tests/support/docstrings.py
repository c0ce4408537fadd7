"""Check that every public name has a complete docstring in numpydoc's format; `make lint` runs it.

Public are the names of `truerisk`, of `truerisk.extend` and of the packages that show names, and
the methods and properties that truerisk's own classes give to them. A method without a docstring
counts as documented if a class that it inherits from documents it.
"""

import enum
import functools
import inspect
import re
import sys
from collections.abc import Iterator
from typing import Any

from numpydoc.docscrape import get_doc_object
from numpydoc.validate import validate
from tests.support.public_names import HIDDEN, PACKAGES, public_names

ALL_OBJECTS = re.compile(r"GL08|PR\d\d|RT0[1-5]|SS0[1-6]")
FUNCTIONS_AND_CLASSES = re.compile(r"SA01|EX01")


def public_objects() -> dict[str, Any]:
    """Return the public functions, classes, methods and properties by the place of their source."""
    found: dict[str, Any] = {}
    for _, thing in public_names((*PACKAGES, "experiments", "extend")):
        if inspect.isclass(thing):
            found[place_of(thing)] = thing
            found.update(members_of(thing))
        elif inspect.isroutine(thing):
            found[place_of(thing)] = thing
    return dict(sorted(found.items()))


def place_of(thing: Any) -> str:
    """Return the module and the qualified name of a function or class."""
    return f"{thing.__module__}.{thing.__qualname__}"


def members_of(cls: type) -> Iterator[tuple[str, Any]]:
    """Yield the public methods and properties that truerisk's own classes give to a class."""
    for base in cls.__mro__:
        if not base.__module__.startswith("truerisk") or issubclass(base, enum.Enum):
            continue
        for name, member in vars(base).items():
            if HIDDEN.match(name):
                continue
            if name in vars(base).get("__annotations__", {}):  # A field, not a method.
                continue
            if isinstance(member, classmethod | staticmethod):
                member = member.__func__
            elif not isinstance(member, property | functools.cached_property):
                member = getattr(member, "fn", member)  # scikit-learn's `available_if` wraps it.
                if not inspect.isfunction(member):
                    continue
            if member.__doc__ or not is_documented_above(base, name):
                yield f"{place_of(base)}.{name}", member


def is_documented_above(cls: type, name: str) -> bool:
    """Return True if a base class of `cls` documents its own member of this name."""
    above = (vars(base).get(name) for base in cls.__mro__[1:])
    return any(member is not None and member.__doc__ for member in above)


def errors_of(thing: Any, *, is_member: bool) -> list[str]:
    """Return numpydoc's errors of one object, each with its code."""
    found = validate(get_doc_object(thing))["errors"]
    if inspect.isclass(thing) and issubclass(thing, enum.Enum):
        # What an enumeration takes depends on Python's version, and users do not call it.
        found = [error for error in found if not error[0].startswith("PR")]
    return [
        f"{code} {sentence}"
        for code, sentence in found
        if ALL_OBJECTS.match(code) or (FUNCTIONS_AND_CLASSES.match(code) and not is_member)
    ]


def incomplete_objects() -> dict[str, list[str]]:
    """Return the errors of each public object that has any."""
    found = {
        place: errors_of(thing, is_member=place.rpartition(".")[0] not in sys.modules)
        for place, thing in public_objects().items()
    }
    return {place: errors for place, errors in found.items() if errors}


def main() -> int:
    """Print the incomplete objects with their errors; return the exit status."""
    incomplete = incomplete_objects()
    for place, errors in incomplete.items():
        print("\n    ".join((place, *errors)))
    print(f"{len(incomplete)} public objects have incomplete docstrings")
    return int(bool(incomplete))


if __name__ == "__main__":
    sys.exit(main())
