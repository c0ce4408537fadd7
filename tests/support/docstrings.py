"""Check that every public name has a complete docstring in numpydoc's format; `make lint` runs it.

Public are the names of `truerisk`, of `truerisk.extend` and of the packages that show names, and
the methods and properties that truerisk's own classes give to them. A method without a docstring
counts as documented if a class that it inherits from documents it. `docstrings_open.txt` lists the
objects that are not complete yet. That list may only become shorter: an object that is incomplete
and not listed fails, and so does an object that is listed and complete.

    python tests/support/docstrings.py            # the objects that fail
    python tests/support/docstrings.py PATH ...   # every error of the objects in these files
    python tests/support/docstrings.py --write    # remove the complete objects from the list
"""

from __future__ import annotations

import enum
import functools
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from numpydoc.docscrape import get_doc_object
from numpydoc.validate import validate

import truerisk as tr

OPEN = Path(__file__).with_name("docstrings_open.txt")
PACKAGES = (
    "datasets",
    "engines",
    "experiments",
    "extend",
    "intervals",
    "losses",
    "methods",
    "models",
    "selection",
    "testing",
)
ALL_OBJECTS = re.compile(r"GL08|PR\d\d|RT0[1-5]|SS0[1-6]")
FUNCTIONS_AND_CLASSES = re.compile(r"SA01|EX01")
ADDED_BY_SCIKIT_LEARN = re.compile(r"set_\w+_request$")


def public_objects() -> dict[str, Any]:
    """Return the public functions, classes, methods and properties by the place of their source."""
    found: dict[str, Any] = {}
    for holder in (tr, *(getattr(tr, package) for package in PACKAGES)):
        for name in dir(holder) if holder in (tr.methods, tr.engines) else holder.__all__:
            thing = getattr(holder, name)
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
            if name.startswith("_") or ADDED_BY_SCIKIT_LEARN.match(name):
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


def failures(incomplete: dict[str, list[str]], listed: set[str]) -> Iterator[str]:
    """Yield a line for each incomplete object that is not listed, and for each needless entry."""
    for place, errors in incomplete.items():
        if place not in listed:
            yield "\n    ".join((place, *errors))
    for place in sorted(listed - incomplete.keys()):
        yield f"{place}\n    is complete or gone: remove it from {OPEN.name}"


def main(arguments: list[str]) -> int:
    """Print what fails; return the exit status."""
    incomplete = incomplete_objects()
    listed = set(OPEN.read_text("utf-8").split()) if OPEN.exists() else set()
    if "--write" in arguments:
        listed &= incomplete.keys()
        OPEN.write_text("".join(f"{place}\n" for place in sorted(listed)), "utf-8")
    elif arguments:
        modules = {
            ".".join(Path(path).with_suffix("").parts).removeprefix("src.") for path in arguments
        }
        for place, errors in incomplete.items():
            if any(place.startswith(f"{module}.") for module in modules):
                print("\n    ".join((place, *errors)))
        return 0
    lines = list(failures(incomplete, listed))
    print("\n".join([*lines, f"{len(incomplete)} public objects have incomplete docstrings"]))
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
