"""From a risk curve to a candidate: the rules by words."""

from truerisk.selection.rules import Minimum, OneStandardError, as_rule, names, registry

__all__ = ["Minimum", "OneStandardError", "as_rule", "names", "registry"]
