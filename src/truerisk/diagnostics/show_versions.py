"""`show_versions`: print the versions of software on which results depend, for bug reports."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import PackageNotFoundError, version

from truerisk import engines
from truerisk.core.version import __version__

REQUIRED_PACKAGES = ("numpy", "scipy", "scikit-learn", "loky", "click", "jinja2")
OPTIONAL_PACKAGES = (
    *("pandas", "polars", "matplotlib", "distributed"),
    *("xgboost", "lightgbm", "catboost", "scikit-survival"),
)


def show_versions() -> None:
    """Print the versions of truerisk, Python and packages, and which engines are switched off.

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
    values_by_name = {"truerisk": __version__, "python": sys.version.split()[0]}
    values_by_name["platform"] = platform.platform()
    values_by_name |= {name: version(name) for name in REQUIRED_PACKAGES}
    values_by_name |= {
        name: package_version
        for name in OPTIONAL_PACKAGES
        if (package_version := _installed_version(name)) is not None
    }
    disabled_engines, reason = engines.off()
    values_by_name["engines"] = (
        f"{', '.join(disabled_engines)} are off: {reason}" if disabled_engines else "all are on"
    )
    print("\n".join(f"{name:<16}{value}" for name, value in values_by_name.items()))  # noqa: T201


def _installed_version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
