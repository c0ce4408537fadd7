"""Random hyperparameter settings from distributions and lists, as in RandomizedSearchCV."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from truerisk.core.arguments import check_count, is_distribution, repr_on_one_line
from truerisk.core.errors import BadArgument, TrueRiskWarning, is_failure, message_of, warn
from truerisk.core.frozen import frozen


def drawn_settings(
    distributions: Any, n_iter: Any, seed: int, check_lists: Callable[[Any], dict[str, list[Any]]]
) -> list[dict[str, Any]]:
    """Return the hyperparameter settings that ParameterSampler draws with this seed.

    All settings of a grid are returned if it has fewer than `n_iter`. `distributions` is a dict, or
    a list of dicts, one of which is drawn for each setting. `check_lists` checks the entries of a
    dict that hold lists and converts their values to lists.
    """
    from sklearn.model_selection import ParameterSampler

    check_count("n_iter", n_iter, why="a whole number of settings to draw is wanted, at least one")
    checked_dicts = [
        _check_dict(distribution_dict, check_lists)
        for distribution_dict in _dicts_of(distributions, n_iter)
    ]
    sampler = ParameterSampler(checked_dicts, int(n_iter), random_state=seed)
    if len(sampler) < n_iter:
        warn(
            f"the grid has {len(sampler)} settings, and n_iter={n_iter} asks for more of them: "
            "all are compared, as without n_iter.",
            TrueRiskWarning,
        )
    with warnings.catch_warnings():  # The warning above replaces the one that scikit-learn issues.
        warnings.filterwarnings("ignore", message="The total space of parameters")
        return list(sampler)


def _dicts_of(distributions: Any, n_iter: Any) -> list[Mapping[str, Any]]:
    dicts = [distributions] if isinstance(distributions, Mapping) else distributions
    if isinstance(dicts, list | tuple) and dicts and all(isinstance(p, Mapping) for p in dicts):
        if any(dicts):
            return list(dicts)
        dicts = None
    if dicts is None or (isinstance(dicts, list | tuple) and not dicts):
        raise BadArgument(
            f"n_iter={n_iter} draws settings, and there is nothing to draw from: give "
            "distributions or lists by the names of parameters, such as "
            "{'C': scipy.stats.loguniform(0.01, 100)}."
        )
    raise BadArgument(
        f"n_iter={n_iter} draws from a dict of distributions and lists, or from a list of such "
        f"dicts, and not from {repr_on_one_line(distributions)}."
    )


def _check_dict(
    distribution_dict: Mapping[str, Any], check_lists: Callable[[Any], dict[str, list[Any]]]
) -> dict[str, list[Any] | _ParameterDistribution]:
    """Wrap each distribution with its parameter name, which messages need, and check the lists."""
    drawn_values = {
        name: _ParameterDistribution(str(name), parameter_values)
        for name, parameter_values in distribution_dict.items()
        if is_distribution(parameter_values)
    }
    for name, values in distribution_dict.items():
        if name not in drawn_values and not isinstance(values, Iterable):
            raise BadArgument(
                f"{repr_on_one_line(values)} cannot give values of {name!r}: give a "
                "list, a distribution with rvs(random_state=...), such as those of scipy.stats, "
                "or a function that is given a numpy Generator."
            )
    lists = check_lists(
        {name: values for name, values in distribution_dict.items() if name not in drawn_values}
    )
    return {
        name: drawn_values[name] if name in drawn_values else lists[name]
        for name in distribution_dict
    }


@frozen
class _ParameterDistribution:
    """Distribution of one parameter, or function of a random generator, with the name to print."""

    name: str
    distribution: Any

    def rvs(self, random_state: np.random.RandomState) -> Any:
        try:
            if hasattr(self.distribution, "rvs"):
                return self.distribution.rvs(random_state=random_state)
            return self.distribution(np.random.default_rng(random_state.randint(2**31 - 1)))
        except BaseException as error:  # A user's distribution may raise anything.
            if not is_failure(error):
                raise
            raise BadArgument(
                f"no value of {self.name!r} can be drawn from "
                f"{repr_on_one_line(self.distribution)}: "
                f"{message_of(error)}"
            ) from error
