"""From a risk curve to a candidate: the rules by words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from truerisk.contracts import Rule
from truerisk.core.arguments import refuse_class, shown
from truerisk.core.errors import UnknownName
from truerisk.core.registry import Registry, lazy, lines_of

if TYPE_CHECKING:
    from truerisk.selection.rules import Minimum as Minimum
    from truerisk.selection.rules import OneStandardError as OneStandardError

__all__ = ["Minimum", "OneStandardError", "as_rule", "names", "registry"]

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


def names() -> list[str]:
    """The words that `rule=` takes."""
    return registry.names()


def as_rule(given: Any, candidates: Sequence[Mapping[str, Any]] = ()) -> Rule:
    """The rule a user asked for, among these settings."""
    if isinstance(given, Rule):
        return given
    if isinstance(given, str):
        rule: Rule = registry.load(given)()
        if given != "1-se":
            return rule
        from truerisk.selection.rules import OneStandardError, simple_end

        return OneStandardError(simple_end(candidates))
    refuse_class("rule", given)
    raise UnknownName(f"rule={shown(given)} is neither a word ({', '.join(registry)}) nor a rule.")


if not TYPE_CHECKING:  # which would take every name for one that is there
    places = dict.fromkeys(("Minimum", "OneStandardError"), f"{__name__}.rules")
    __getattr__, __dir__ = lazy(__name__, __all__, places)
