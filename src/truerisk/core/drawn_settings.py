"""Random hyperparameter settings from distributions and lists, as in RandomizedSearchCV."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from truerisk.core.arguments import check_count, is_distribution, repr_on_one_line
from truerisk.core.errors import BadArgument, TrueRiskWarning, describe_error, is_failure, warn
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

    check_count(
        "n_iter",
        n_iter,
        requirement_text="a whole number of settings to draw is wanted, at least one",
    )
    checked_dicts = [
        _check_dict(distribution_dict, check_lists)
        for distribution_dict in _list_of_dicts(distributions, n_iter)
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


def _list_of_dicts(distributions: Any, n_iter: Any) -> list[Mapping[str, Any]]:
    distribution_dicts = [distributions] if isinstance(distributions, Mapping) else distributions
    if (
        isinstance(distribution_dicts, list | tuple)
        and distribution_dicts
        and all(isinstance(distribution_dict, Mapping) for distribution_dict in distribution_dicts)
    ):
        if any(distribution_dicts):
            return list(distribution_dicts)
        distribution_dicts = None
    if distribution_dicts is None or (
        isinstance(distribution_dicts, list | tuple) and not distribution_dicts
    ):
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
    """Check the lists of values and the distributions of one dict.

    Each distribution is returned together with its parameter name, which messages need.
    """
    wrapped_distributions = {
        parameter_name: _ParameterDistribution(str(parameter_name), parameter_values)
        for parameter_name, parameter_values in distribution_dict.items()
        if is_distribution(parameter_values)
    }
    for parameter_name, parameter_value_list in distribution_dict.items():
        if parameter_name not in wrapped_distributions and not isinstance(
            parameter_value_list, Iterable
        ):
            raise BadArgument(
                f"{repr_on_one_line(parameter_value_list)} cannot give values of "
                f"{parameter_name!r}: give a "
                "list, a distribution with rvs(random_state=...), such as those of scipy.stats, "
                "or a function that is given a numpy Generator."
            )
    checked_lists = check_lists(
        {
            parameter_name: parameter_value_list
            for parameter_name, parameter_value_list in distribution_dict.items()
            if parameter_name not in wrapped_distributions
        }
    )
    return {
        parameter_name: wrapped_distributions[parameter_name]
        if parameter_name in wrapped_distributions
        else checked_lists[parameter_name]
        for parameter_name in distribution_dict
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
                f"{describe_error(error)}"
            ) from error
