"""Rules that choose one candidate from a risk curve, by their names."""

from typing import TYPE_CHECKING

from truerisk.core.registry import lazy
from truerisk.selection.rules import Minimum, OneStandardError, as_rule, names, registry

__all__ = ["Minimum", "OneStandardError", "as_rule", "names", "registry"]

# A type checker would otherwise accept every name as an attribute of this module.
if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy("truerisk.selection", __all__)
