"""What a result says of its making: the seed, the versions, the fingerprints."""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from truerisk.core.arguments import shown
from truerisk.core.contracts import Streams
from truerisk.core.errors import UnknownName
from truerisk.core.version import __version__

__all__ = ["as_seed", "settings_seed", "versions"]

MOST_SEED = 2**32  # of the generators that scikit-learn and SciPy draw settings from


def as_seed(random_state: Any) -> int:
    """One integer that all random streams come from; None draws a fresh one, which is reported."""
    if random_state is None:
        return int(np.random.default_rng().integers(2**31))
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool):
        if random_state < 0:
            raise UnknownName(f"random_state={random_state}: a seed is not negative.")
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    raise UnknownName(
        f"random_state={shown(random_state)} is no seed; use an integer, None, or a numpy "
        "Generator."
    )


def settings_seed(seed: int, *, plain: bool = False) -> int:
    """The seed of the settings: of a stream of their own, or `plain`, as RandomizedSearchCV's."""
    if plain and seed < MOST_SEED:
        return seed
    return int(Streams(seed).get("settings").integers(MOST_SEED))


@cache
def versions() -> Mapping[str, str]:
    """Versions that a number can depend on."""
    found = {"truerisk": __version__, "python": platform.python_version()}
    for name in ("numpy", "scipy", "sklearn"):
        module = sys.modules.get(name)
        if module is not None:
            found[name] = str(module.__version__)
    return found
