"""`show_versions`: what numbers and times depend on here, to be copied into a report of a fault."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import PackageNotFoundError, version

from truerisk import engines
from truerisk.core.version import __version__

NEEDED = ("numpy", "scipy", "scikit-learn", "loky", "click", "jinja2")
OPTIONAL = (
    *("pandas", "polars", "matplotlib", "distributed"),
    *("xgboost", "lightgbm", "catboost", "scikit-survival"),
)


def show_versions() -> None:
    """Print the versions of truerisk, Python and packages, and the engines that are off, and why.

    Nothing is sent anywhere.

    See Also
    --------
    truerisk.engines.off : Return the engines that are off.

    Examples
    --------
    >>> import truerisk as tr
    >>> tr.show_versions()
    truerisk      ...
    python        3...
    platform      ...
    numpy         ...
    engines       all are on
    """
    lines = {"truerisk": __version__, "python": sys.version.split()[0]}
    lines["platform"] = platform.platform()
    lines |= {name: version(name) for name in NEEDED}
    lines |= {name: found for name in OPTIONAL if (found := _installed(name)) is not None}
    off, reason = engines.off()
    lines["engines"] = f"{', '.join(off)} are off: {reason}" if off else "all are on"
    print("\n".join(f"{name:<16}{value}" for name, value in lines.items()))  # noqa: T201


def _installed(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
