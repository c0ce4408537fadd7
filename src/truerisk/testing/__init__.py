"""Conformance tests that every risk-estimation method and every engine must pass.

The author of a method writes::

    @pytest.mark.parametrize("check", truerisk.testing.method_checks(MyMethod()))
    def test_conforms(check):
        check()
"""

from typing import TYPE_CHECKING

from truerisk.core.registry import lazy_attributes

if TYPE_CHECKING:
    from truerisk.testing.cases import Case
    from truerisk.testing.comparing import Check, NotConforming
    from truerisk.testing.of_engines import check_engine, engine_checks
    from truerisk.testing.of_methods import check_method, method_checks
    from truerisk.testing.replicates import check_bias, check_mean, replicate

_MODULE_BY_NAME = {
    name: f"{__name__}.{file}"
    for file, names_of in {
        "cases": "Case",
        "comparing": "Check NotConforming",
        "of_engines": "check_engine engine_checks",
        "of_methods": "check_method method_checks",
        "replicates": "check_bias check_mean replicate",
        "strategies": "strategies",
    }.items()
    for name in names_of.split()
}

__all__ = [
    "Case",
    "Check",
    "NotConforming",
    "check_bias",
    "check_engine",
    "check_mean",
    "check_method",
    "engine_checks",
    "method_checks",
    "replicate",
]


if not TYPE_CHECKING:  # Type checkers would otherwise assume that this module has every name.
    __getattr__, __dir__ = lazy_attributes(__name__, __all__, _MODULE_BY_NAME)
