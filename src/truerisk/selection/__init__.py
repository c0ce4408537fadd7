"""Rules that choose one candidate from the estimated risks of all, and functions to name them."""

from typing import TYPE_CHECKING

from truerisk.core.registry import lazy_attributes
from truerisk.selection.rules import Minimum, OneStandardError, as_rule, names, registry

__all__ = ["Minimum", "OneStandardError", "as_rule", "names", "registry"]

# Hide `__getattr__` from type checkers. They would accept any name as a module attribute.
if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_attributes("truerisk.selection", __all__)
