"""What numbers can depend on, here and where workers of other machines run."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from functools import cache
from importlib.metadata import version

from truerisk.core.errors import TrueRiskError
from truerisk.core.version import __version__

__all__ = ["refuse_other_versions", "versions"]


@cache
def versions() -> dict[str, str]:
    """What numbers can depend on here; asked without importing it."""
    found = {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}
    python = ".".join(platform.python_version_tuple()[:2])
    return {"truerisk": __version__, "python": python, **found}


def refuse_other_versions(wanted: Mapping[str, str], refusal: type[TrueRiskError]) -> None:
    """In a worker: refuse to compute where the versions are not those of the process that asks."""
    here = versions()
    if here == wanted:
        return
    other = [f"{name} {here.get(name)} (not {v})" for name, v in wanted.items() if here[name] != v]
    raise refusal(
        f"the worker {platform.node()} has {', '.join(other)}: install the same versions on all "
        "machines, or the numbers depend on who computed them."
    )
