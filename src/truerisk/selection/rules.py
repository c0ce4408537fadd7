"""Rules that choose a candidate from the estimated risks of all, and the registry of the rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np

from truerisk.contracts import Rule
from truerisk.core.arguments import check_has_name, is_number, mention, refuse_class
from truerisk.core.errors import Refusal, UnknownName
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.core.registry import Registry, parse_registry_table
from truerisk.results.interval import are_tied

registry = Registry(
    "rule",
    parse_registry_table(
        "truerisk.selection",
        """
    min  rules:Minimum  the smallest risk, ties to the first
    1-se  rules:OneStandardError
        the simplest candidate within one standard error of the smallest risk
    """,
    ),
)


def find_smallest_risk(values: np.ndarray) -> float:
    """Return the smallest risk among the candidates without a failed fit, whose risk is NaN.

    Refusal is raised if all risks are NaN.
    """
    if np.isnan(values).all():
        raise Refusal("every candidate has a failed fit: there is nothing to choose from.")
    return float(np.nanmin(values))


@frozen
class Minimum(Rule):
    """Rule that chooses the candidate with the smallest risk; ties go to the first in grid order.

    Two risks count as equal if their relative difference is below 1e-12. The difference is relative
    so that the unit of y does not matter. Without this tolerance the order in which the risks of
    the folds are added could decide, as it does in GridSearchCV.

    See Also
    --------
    OneStandardError : Choose the simplest setting within one standard error of the best.

    Examples
    --------
    >>> import numpy as np
    >>> from truerisk.selection import Minimum
    >>> Minimum().choose(np.array([0.3, 0.1, 0.1]), np.full(3, np.nan))
    1
    """

    name: ClassVar[str] = "min"
    ties: ClassVar[str] = "first in grid order"

    @override
    def choose(self, values: np.ndarray, std_errors: np.ndarray) -> int:
        smallest_risk = find_smallest_risk(values)
        return int(np.flatnonzero(are_tied(values, smallest_risk))[0])


@frozen
class OneStandardError(Rule):
    """Rule that chooses the simplest candidate within one standard error of the smallest risk.

    The grid lists settings from simple to complex (`simplest="first"`, the default) or from complex
    to simple (`"last"`). If the rule is given by its name `1-se`, `find_simplest_end` decides which
    end of the grid is the simplest. The standard error comes from the method that estimated the
    risk; it is not the standard deviation of the folds.

    Parameters
    ----------
    simplest : {"first", "last"}, default="first"
        The end of the grid that holds the simplest setting.

    See Also
    --------
    Minimum : Choose the setting with the smallest risk.

    References
    ----------
    Breiman L, Friedman JH, Olshen RA, Stone CJ (1984). Classification and Regression Trees.
    Wadsworth.

    Examples
    --------
    >>> import numpy as np
    >>> from truerisk.selection import OneStandardError
    >>> risks, std_errors = np.array([0.14, 0.1, 0.12]), np.full(3, 0.05)
    >>> [OneStandardError(end).choose(risks, std_errors) for end in ("first", "last")]
    [0, 2]
    """

    simplest: Literal["first", "last"] = "first"

    name: ClassVar[str] = "1-se"
    ties: ClassVar[str] = "simplest in grid order"
    needs_std_errors: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.simplest not in ("first", "last"):
            raise UnknownName(f"simplest={self.simplest!r} is unknown; use 'first' or 'last'.")

    @override
    def choose(self, values: np.ndarray, std_errors: np.ndarray) -> int:
        best_candidate = Minimum().choose(values, std_errors)
        if np.isnan(std_errors[best_candidate]):
            if np.nanmin(values) == 0:
                return self._pick_simplest(are_tied(values, 0.0))
            raise Refusal(
                "rule '1-se' needs a standard error and this method and loss give none; use "
                f"{mention('rule', 'min')}, or a method with per-row losses such as '10-fold'. In "
                "the order of time these are 'forward-5' and 'purged-5' where the losses of 100 "
                "times or more tell how long they remember."
            )
        return self._pick_simplest(
            are_tied(values, values[best_candidate] + std_errors[best_candidate])
        )

    def _pick_simplest(self, is_acceptable: np.ndarray) -> int:
        return int(np.flatnonzero(is_acceptable)[0 if self.simplest == "first" else -1])


LARGER_IS_SIMPLER = {
    "alpha",
    "ccp_alpha",
    "l2_regularization",
    "min_child_samples",
    "min_child_weight",
    "min_samples_leaf",
    "min_samples_split",
    "n_neighbors",
    "reg_alpha",
    "reg_lambda",
    "shrinkage",
    "var_smoothing",
}
SMALLER_IS_SIMPLER = {
    "C",
    "degree",
    "gamma",
    "max_depth",
    "max_iter",
    "max_leaf_nodes",
    "n_components",
    "n_estimators",
    "num_leaves",
}
"""Parameters of scikit-learn and boosting libraries whose smaller values give simpler models."""


def find_simplest_end(candidates: Sequence[Mapping[str, Any]]) -> Literal["first", "last"]:
    """Return which end of a grid, "first" or "last", holds the simplest hyperparameter setting.

    The end is known if exactly one parameter varies and it is in LARGER_IS_SIMPLER or
    SMALLER_IS_SIMPLER. Otherwise the result is "first".

    >>> (
    ...     find_simplest_end([{"n_neighbors": 1}, {"n_neighbors": 9}]),
    ...     find_simplest_end([{"C": 1}, {"C": 9}]),
    ... )
    ('last', 'first')
    """
    names = {name for setting in candidates for name in setting}
    varying_names = [
        name for name in names if len({repr(candidate.get(name)) for candidate in candidates}) > 1
    ]
    if len(varying_names) != 1:
        return "first"
    name = varying_names[0].rpartition("__")[2]
    values: list[Any] = [candidate.get(varying_names[0]) for candidate in candidates]
    if not all(is_number(value) for value in values):
        return "first"
    is_rising, is_falling = (
        values == sorted(values, reverse=descending) for descending in (False, True)
    )
    larger_is_simpler, smaller_is_simpler = name in LARGER_IS_SIMPLER, name in SMALLER_IS_SIMPLER
    return (
        "last"
        if (is_rising and larger_is_simpler) or (is_falling and smaller_is_simpler)
        else "first"
    )


def names() -> list[str]:
    """Return the names of selection rules that the argument `rule=` accepts.

    Returns
    -------
    list of str
        The names of the selection rules.

    See Also
    --------
    as_rule : Return the selection rule with a given name.

    Examples
    --------
    >>> import truerisk as tr
    >>> tr.selection.names()
    ['min', '1-se']
    """
    return registry.names()


def as_rule(given: Any, candidates: Sequence[Mapping[str, Any]] = ()) -> Rule:
    """Return the selection rule that the argument `rule=` names, given the settings of the grid.

    Parameters
    ----------
    given : str or Rule
        The argument `rule=` of a verb: a name in ``tr.selection.names()``, or a rule.
    candidates : sequence of mappings, optional
        The settings of the grid, from which "1-se" finds the simplest end.

    Returns
    -------
    Rule
        The selection rule.

    See Also
    --------
    truerisk.selection.names : List the names of the rules.
    truerisk.extend.Rule : The class from which rules derive.

    Examples
    --------
    >>> from truerisk.selection import as_rule
    >>> as_rule("min")
    Minimum()
    """
    if isinstance(given, Rule):
        check_has_name("rule", given)
        return given
    if isinstance(given, str):
        rule: Rule = registry.load(given)()
        if given != "1-se":
            return rule
        return OneStandardError(find_simplest_end(candidates))
    refuse_class("rule", given)
    raise UnknownName(
        f"{mention('rule', given)} is neither a word ({', '.join(registry)}) nor a rule."
    )
