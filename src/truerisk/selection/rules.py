"""Rules that choose a candidate from a risk curve, and the registry of their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np

from truerisk.contracts import Rule
from truerisk.core.arguments import check_has_name, is_number, mention, refuse_class
from truerisk.core.errors import Refusal, UnknownName
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.core.registry import Registry, lines_of
from truerisk.results.interval import tied

registry = Registry(
    "rule",
    lines_of(
        "truerisk.selection",
        """
    min  rules:Minimum  the smallest risk, ties to the first
    1-se  rules:OneStandardError
        the simplest candidate within one standard error of the smallest risk
    """,
    ),
)


def smallest(values: np.ndarray) -> float:
    """Return the smallest risk among the candidates that have one."""
    if np.isnan(values).all():
        raise Refusal("every candidate has a failed fit: there is nothing to choose from.")
    return float(np.nanmin(values))


@frozen
class Minimum(Rule):
    """Rule that chooses the candidate with the smallest risk; ties go to the first in grid order.

    Two risks count as equal if their relative difference is below 1e-12. The difference is relative
    so that the unit of y does not matter. Without this tolerance the order in which the fold risks
    were added could decide, as it does in GridSearchCV.

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
        least = smallest(values)
        return int(np.flatnonzero(tied(values, least))[0])


@frozen
class OneStandardError(Rule):
    """Rule that chooses the simplest candidate with risk ≤ smallest risk + its standard error.

    The grid lists settings from simple to complex (`simplest="first"`, the default) or from complex
    to simple (`"last"`). If the rule is given by its name `1-se`, `simple_end` decides which end of
    the grid is the simplest. The standard error comes from the method that estimated the risk; it
    is not the standard deviation of the folds.

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
        best = Minimum().choose(values, std_errors)
        if np.isnan(std_errors[best]):
            if np.nanmin(values) == 0:
                return self._simplest(tied(values, 0.0))
            raise Refusal(
                "rule '1-se' needs a standard error and this method and loss give none; use "
                f"{mention('rule', 'min')}, or a method with per-row losses such as '10-fold'. In "
                "the order of time these are 'forward-5' and 'purged-5' where the losses of 100 "
                "times or more tell how long they remember."
            )
        return self._simplest(tied(values, values[best] + std_errors[best]))

    def _simplest(self, good: np.ndarray) -> int:
        return int(np.flatnonzero(good)[0 if self.simplest == "first" else -1])


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
"""Parameters of scikit-learn and boosting libraries, by the direction of simpler models."""


def simple_end(candidates: Sequence[Mapping[str, Any]]) -> Literal["first", "last"]:
    """Return which end of a grid holds its simplest setting.

    The answer is known if exactly one parameter varies and its name is listed above. Otherwise it
    is "first".

    >>> simple_end([{"n_neighbors": 1}, {"n_neighbors": 9}]), simple_end([{"C": 1}, {"C": 9}])
    ('last', 'first')
    """
    names = {name for setting in candidates for name in setting}
    varying = [name for name in names if len({repr(one.get(name)) for one in candidates}) > 1]
    if len(varying) != 1:
        return "first"
    name = varying[0].rpartition("__")[2]
    values: list[Any] = [one.get(varying[0]) for one in candidates]
    if not all(is_number(value) for value in values):
        return "first"
    rising, falling = (values == sorted(values, reverse=down) for down in (False, True))
    larger, smaller = name in LARGER_IS_SIMPLER, name in SMALLER_IS_SIMPLER
    return "last" if (rising and larger) or (falling and smaller) else "first"


def names() -> list[str]:
    """Return the names that `rule=` accepts.

    Returns
    -------
    list of str
        The names of the rules.

    See Also
    --------
    as_rule : Return the rule with a name.

    Examples
    --------
    >>> import truerisk as tr
    >>> tr.selection.names()
    ['min', '1-se']
    """
    return registry.names()


def as_rule(given: Any, candidates: Sequence[Mapping[str, Any]] = ()) -> Rule:
    """Return the rule that the argument `rule=` stands for, given the settings of the grid.

    Parameters
    ----------
    given : str or Rule
        The argument `rule=` of a verb: a name in ``tr.selection.names()``, or a rule.
    candidates : sequence of mappings, optional
        The settings of the grid, from which "1-se" finds the simplest end.

    Returns
    -------
    Rule
        The rule.

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
        return OneStandardError(simple_end(candidates))
    refuse_class("rule", given)
    raise UnknownName(
        f"{mention('rule', given)} is neither a word ({', '.join(registry)}) nor a rule."
    )
