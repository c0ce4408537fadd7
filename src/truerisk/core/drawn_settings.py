"""Draw settings at random from distributions and lists, as RandomizedSearchCV does."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from truerisk.core.arguments import check_count, is_distribution, shown
from truerisk.core.errors import BadArgument, TrueRiskWarning, is_failure, message_of, warn
from truerisk.core.frozen import frozen


def drawn_settings(
    distributions: Any, n_iter: Any, seed: int, listed: Callable[[Any], dict[str, list[Any]]]
) -> list[dict[str, Any]]:
    """Return the settings that ParameterSampler draws with this seed.

    All settings of a grid are returned if it has fewer than `n_iter`. `distributions` is a dict, or
    a list of dicts, one of which is drawn for each setting. `listed` checks the part of a dict that
    holds lists and converts its values to lists.
    """
    from sklearn.model_selection import ParameterSampler

    check_count("n_iter", n_iter, why="a whole number of settings to draw is wanted, at least one")
    parts = [_part(part, listed) for part in _parts(distributions, n_iter)]
    sampler = ParameterSampler(parts, int(n_iter), random_state=seed)
    if len(sampler) < n_iter:
        warn(
            f"the grid has {len(sampler)} settings, and n_iter={n_iter} asks for more of them: "
            "all are compared, as without n_iter.",
            TrueRiskWarning,
        )
    with warnings.catch_warnings():  # The warning above replaces the one by scikit-learn.
        warnings.filterwarnings("ignore", message="The total space of parameters")
        return list(sampler)


def _parts(distributions: Any, n_iter: Any) -> list[Mapping[str, Any]]:
    parts = [distributions] if isinstance(distributions, Mapping) else distributions
    if isinstance(parts, list | tuple) and parts and all(isinstance(p, Mapping) for p in parts):
        if any(parts):
            return list(parts)
        parts = None
    if parts is None or (isinstance(parts, list | tuple) and not parts):
        raise BadArgument(
            f"n_iter={n_iter} draws settings, and there is nothing to draw from: give "
            "distributions or lists by the names of parameters, such as "
            "{'C': scipy.stats.loguniform(0.01, 100)}."
        )
    raise BadArgument(
        f"n_iter={n_iter} draws from a dict of distributions and lists, or from a list of such "
        f"dicts, and not from {shown(distributions)}."
    )


def _part(
    part: Mapping[str, Any], listed: Callable[[Any], dict[str, list[Any]]]
) -> dict[str, list[Any] | _Drawn]:
    """Return lists as lists, and wrap each distribution with its name, which messages need."""
    drawn = {name: _Drawn(str(name), v) for name, v in part.items() if is_distribution(v)}
    for name, values in part.items():
        if name not in drawn and not isinstance(values, Iterable):
            raise BadArgument(
                f"{shown(values)} cannot give values of {name!r}: give a "
                "list, a distribution with rvs(random_state=...), such as those of scipy.stats, "
                "or a function that is given a numpy Generator."
            )
    lists = listed({name: values for name, values in part.items() if name not in drawn})
    return {name: drawn[name] if name in drawn else lists[name] for name in part}


@frozen
class _Drawn:
    """A distribution, or a function of a random generator, with the name of its parameter."""

    name: str
    distribution: Any

    def rvs(self, random_state: np.random.RandomState) -> Any:
        try:
            if hasattr(self.distribution, "rvs"):
                return self.distribution.rvs(random_state=random_state)
            return self.distribution(np.random.default_rng(random_state.randint(2**31 - 1)))
        except BaseException as error:  # A distribution of a user may raise anything.
            if not is_failure(error):
                raise
            raise BadArgument(
                f"no value of {self.name!r} can be drawn from {shown(self.distribution)}: "
                f"{message_of(error)}"
            ) from error
