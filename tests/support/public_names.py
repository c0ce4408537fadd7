"""The public names: those of `truerisk` and of the packages that it shows."""

import re
from collections.abc import Iterator
from typing import Any

import truerisk as tr

HIDDEN = re.compile(r"_|set_\w+_request$")  # private, or added by a release of scikit-learn
PACKAGES = (
    "datasets",
    "engines",
    "exceptions",
    "intervals",
    "losses",
    "methods",
    "models",
    "selection",
    "testing",
)


def names_in(package: Any) -> list[str]:
    """Return the public names of a package; those of methods and engines include the classes."""
    return dir(package) if package in (tr.methods, tr.engines) else package.__all__


def public_names(packages: tuple[str, ...] = PACKAGES) -> Iterator[tuple[str, Any]]:
    """Yield each public name of `truerisk` and of these packages, with its object."""
    for name in sorted(tr.__all__):
        if name not in packages:
            yield f"truerisk.{name}", getattr(tr, name)
    for package in packages:
        holder = getattr(tr, package)
        for name in names_in(holder):
            yield f"truerisk.{package}.{name}", getattr(holder, name)
