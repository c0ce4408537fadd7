"""The true risk of a tuned model, with its uncertainty.

>>> import truerisk as tr
>>> tr.methods.names()[0]
'apparent'

A *method* draws a plan, an *engine* answers it for all candidates at once, the method reduces the
answers to a risk. Everything is imported when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from truerisk.core.version import __version__ as __version__

_WHERE = {
    "Assessment": "truerisk.api.assessing.assessment",
    "Audit": "truerisk.api.auditing.outcome",
    "Comparison": "truerisk.core.comparison",
    "ErrorPosterior": "truerisk.core.statistics.error_posterior",
    "HonestSearchCV": "truerisk.api.search",
    "ManyComparison": "truerisk.comparing.many_comparison",
    "PermutationTest": "truerisk.api.permutations",
    "LearningCurve": "truerisk.core.learning_curve",
    "RiskCurve": "truerisk.core.results",
    "RiskEstimate": "truerisk.core.results",
    "RiskOverTime": "truerisk.api.risk_over_time",
    "SamplePlan": "truerisk.api.plan_sample",
    "Study": "truerisk.api.study",
    "RocCurve": "truerisk.core.statistics.roc",
    "SelectionBias": "truerisk.core.statistics.selection_bias",
    "Validation": "truerisk.validation.validation",
    "assess": "truerisk.api.assess",
    "audit": "truerisk.api.audit",
    "bayesian_error": "truerisk.api.bayesian_error",
    "compare": "truerisk.comparing.paired",
    "compare_many": "truerisk.comparing.many",
    "estimate_risk": "truerisk.api.estimate",
    "permutation_test": "truerisk.api.permutation_test",
    "learning_curve": "truerisk.api.learning_curve",
    "plan_development": "truerisk.api.plan_model",
    "plan_sample": "truerisk.api.plan_sample",
    "plan_validation": "truerisk.api.plan_validation",
    "risk_curve": "truerisk.api.estimate",
    "risk_over_time": "truerisk.api.risk_over_time",
    "show_versions": "truerisk.api.show_versions",
    "validate": "truerisk.api.validate",
}
_ROOMS = {
    "datasets": "truerisk.datasets",
    "engines": "truerisk.engines",
    "extend": "truerisk.extend",
    "intervals": "truerisk.methods.interval_forms",
    "losses": "truerisk.core.losses",
    "methods": "truerisk.methods",
    "models": "truerisk.models",
    "papers": "truerisk.papers",
    "selection": "truerisk.selection",
    "testing": "truerisk.testing",
}

__all__ = [
    "Assessment",
    "Audit",
    "Comparison",
    "ErrorPosterior",
    "HonestSearchCV",
    "LearningCurve",
    "ManyComparison",
    "PermutationTest",
    "RiskCurve",
    "RiskEstimate",
    "RiskOverTime",
    "RocCurve",
    "SamplePlan",
    "SelectionBias",
    "Study",
    "Validation",
    "__version__",
    "assess",
    "audit",
    "bayesian_error",
    "compare",
    "compare_many",
    "datasets",
    "engines",
    "estimate_risk",
    "extend",
    "intervals",
    "learning_curve",
    "losses",
    "methods",
    "models",
    "papers",
    "permutation_test",
    "plan_development",
    "plan_sample",
    "plan_validation",
    "risk_curve",
    "risk_over_time",
    "selection",
    "show_versions",
    "testing",
    "validate",
]

if TYPE_CHECKING:  # the same names, for type checkers
    from truerisk import datasets as datasets
    from truerisk import engines as engines
    from truerisk import extend as extend
    from truerisk import methods as methods
    from truerisk import models as models
    from truerisk import papers as papers
    from truerisk import selection as selection
    from truerisk import testing as testing
    from truerisk.api.assess import assess as assess
    from truerisk.api.assessing.assessment import Assessment as Assessment
    from truerisk.api.audit import audit as audit
    from truerisk.api.auditing.outcome import Audit as Audit
    from truerisk.api.bayesian_error import bayesian_error as bayesian_error
    from truerisk.api.estimate import estimate_risk as estimate_risk
    from truerisk.api.estimate import risk_curve as risk_curve
    from truerisk.api.learning_curve import learning_curve as learning_curve
    from truerisk.api.permutation_test import permutation_test as permutation_test
    from truerisk.api.permutations import PermutationTest as PermutationTest
    from truerisk.api.plan_model import plan_development as plan_development
    from truerisk.api.plan_sample import SamplePlan as SamplePlan
    from truerisk.api.plan_sample import plan_sample as plan_sample
    from truerisk.api.plan_validation import plan_validation as plan_validation
    from truerisk.api.risk_over_time import RiskOverTime as RiskOverTime
    from truerisk.api.risk_over_time import risk_over_time as risk_over_time
    from truerisk.api.search import HonestSearchCV as HonestSearchCV
    from truerisk.api.show_versions import show_versions as show_versions
    from truerisk.api.study import Study as Study
    from truerisk.api.validate import validate as validate
    from truerisk.comparing.many import compare_many as compare_many
    from truerisk.comparing.many_comparison import ManyComparison as ManyComparison
    from truerisk.comparing.paired import compare as compare
    from truerisk.core import losses as losses
    from truerisk.core.comparison import Comparison as Comparison
    from truerisk.core.learning_curve import LearningCurve as LearningCurve
    from truerisk.core.results import RiskCurve as RiskCurve
    from truerisk.core.results import RiskEstimate as RiskEstimate
    from truerisk.core.statistics.error_posterior import ErrorPosterior as ErrorPosterior
    from truerisk.core.statistics.roc import RocCurve as RocCurve
    from truerisk.core.statistics.selection_bias import SelectionBias as SelectionBias
    from truerisk.methods import interval_forms as intervals
    from truerisk.validation.validation import Validation as Validation


if not TYPE_CHECKING:  # which would take every name for one that is there

    def __getattr__(name: str) -> Any:
        if name in _WHERE:
            return getattr(import_module(_WHERE[name]), name)
        if name in _ROOMS:
            return import_module(_ROOMS[name])
        from truerisk.core.registry import no_attribute

        raise no_attribute(__name__, name, __all__)


def __dir__() -> list[str]:
    return sorted(__all__)
