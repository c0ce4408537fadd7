"""The conformance kit: what any method and any engine must do, as checks that can be run.

| file | what it holds |
|---|---|
| `of_methods.py` | the checks of a method: `check_method`, `method_checks` |
| `of_engines.py` | the checks of an engine: `check_engine`, `engine_checks` |
| `cases.py` | data, learner and loss a method is run on, and how it is run |
| `brute_force.py` | the answers to a plan by fitting one by one, from the plan's JSON alone |
| `situations.py` | what an engine is asked: families, plain data, plans, every response |
| `comparing.py` | answers held against those of another, and against the contract |
| `strategies.py` | hypothesis draws data and plans |
| `toy_learners.py` | learners whose answers do not depend on the order of rows; the perfect rule |
| `replicates.py` | the mean of a method over many draws of problems with a known true risk |

The author of a method writes::

    @pytest.mark.parametrize("check", truerisk.testing.method_checks(MyMethod()))
    def test_conforms(check):
        check()
"""

from typing import TYPE_CHECKING

from truerisk.core.registry import lazy

if TYPE_CHECKING:
    from truerisk.testing.cases import Case
    from truerisk.testing.comparing import Check, NotConforming
    from truerisk.testing.of_engines import check_engine, engine_checks
    from truerisk.testing.of_methods import check_method, method_checks
    from truerisk.testing.replicates import check_bias, check_mean, replicate

_PLACES = {
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


if not TYPE_CHECKING:  # which would take every name for one that is there
    __getattr__, __dir__ = lazy(__name__, __all__, _PLACES)
