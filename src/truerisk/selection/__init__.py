"""From a risk curve to a candidate: the rules by words."""

from typing import TYPE_CHECKING

from truerisk.core.registry import lazy
from truerisk.selection.rules import Minimum, OneStandardError, as_rule, names, registry

__all__ = ["Minimum", "OneStandardError", "as_rule", "names", "registry"]

if not TYPE_CHECKING:  # which would take every name for one that is there
    __getattr__, __dir__ = lazy("truerisk.selection", __all__)
