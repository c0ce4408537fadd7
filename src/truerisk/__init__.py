"""The true risk of a tuned model, with its uncertainty.

>>> import truerisk as tr
>>> tr.methods.names()[0]
'apparent'

A *method* draws a plan of fits and test sets. An *engine* computes the predictions that the plan
needs, for all candidates at once. The method then reduces these predictions to a risk. Every name
is imported when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from truerisk.core.version import __version__ as __version__

_MODULE_BY_NAME = {
    "Assessment": "truerisk.assessment.assessment",
    "Audit": "truerisk.auditing.outcome",
    "Comparison": "truerisk.results.comparison",
    "ErrorPosterior": "truerisk.results.error_posterior",
    "HonestSearchCV": "truerisk.search.search",
    "ComparisonPlan": "truerisk.planning.plan_comparison",
    "Ladder": "truerisk.external.ladder",
    "ManyComparison": "truerisk.comparison.many_comparison",
    "PermutationTest": "truerisk.diagnostics.permutations",
    "LearningCurve": "truerisk.results.learning_curve",
    "RiskCurve": "truerisk.results.results",
    "RiskEstimate": "truerisk.results.results",
    "RiskOverTime": "truerisk.diagnostics.risk_over_time",
    "SamplePlan": "truerisk.planning.plan_sample",
    "Study": "truerisk.study.study",
    "TableAudit": "truerisk.external.table_audit",
    "RocCurve": "truerisk.results.roc",
    "SelectionBias": "truerisk.results.selection_bias",
    "Validation": "truerisk.validation.validation",
    "assess": "truerisk.assessment.assess",
    "audit": "truerisk.auditing.audit",
    "audit_table": "truerisk.external.audit_table",
    "bayesian_error": "truerisk.estimation.bayesian_error",
    "compare": "truerisk.comparison.paired",
    "compare_many": "truerisk.comparison.many",
    "estimate_risk": "truerisk.estimation.estimate",
    "permutation_test": "truerisk.diagnostics.permutation_test",
    "learning_curve": "truerisk.diagnostics.learning_curve",
    "plan_development": "truerisk.planning.plan_model",
    "plan_comparison": "truerisk.planning.plan_comparison",
    "plan_sample": "truerisk.planning.plan_sample",
    "plan_validation": "truerisk.planning.plan_validation",
    "risk_curve": "truerisk.estimation.estimate",
    "risk_over_time": "truerisk.diagnostics.risk_over_time",
    "show_versions": "truerisk.diagnostics.show_versions",
    "validate": "truerisk.validation.validate",
    "validate_predictions": "truerisk.validation.validate_predictions",
}
_PACKAGE_BY_NAME = {
    "datasets": "truerisk.datasets",
    "engines": "truerisk.engines",
    "exceptions": "truerisk.exceptions",
    "extend": "truerisk.extend",
    "intervals": "truerisk.intervals",
    "losses": "truerisk.losses",
    "methods": "truerisk.methods",
    "models": "truerisk.models",
    "experiments": "truerisk.experiments",
    "selection": "truerisk.selection",
    "testing": "truerisk.testing",
}

__all__ = [
    "Assessment",
    "Audit",
    "Comparison",
    "ComparisonPlan",
    "ErrorPosterior",
    "HonestSearchCV",
    "Ladder",
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
    "TableAudit",
    "Validation",
    "__version__",
    "assess",
    "audit",
    "audit_table",
    "bayesian_error",
    "compare",
    "compare_many",
    "datasets",
    "engines",
    "estimate_risk",
    "exceptions",
    "experiments",
    "extend",
    "intervals",
    "learning_curve",
    "losses",
    "methods",
    "models",
    "permutation_test",
    "plan_comparison",
    "plan_development",
    "plan_sample",
    "plan_validation",
    "risk_curve",
    "risk_over_time",
    "selection",
    "show_versions",
    "testing",
    "validate",
    "validate_predictions",
]

if TYPE_CHECKING:  # Type checkers need static imports of the names that are imported on demand.
    from truerisk import datasets as datasets
    from truerisk import engines as engines
    from truerisk import exceptions as exceptions
    from truerisk import experiments as experiments
    from truerisk import extend as extend
    from truerisk import intervals as intervals
    from truerisk import losses as losses
    from truerisk import methods as methods
    from truerisk import models as models
    from truerisk import selection as selection
    from truerisk import testing as testing
    from truerisk.assessment.assess import assess as assess
    from truerisk.assessment.assessment import Assessment as Assessment
    from truerisk.auditing.audit import audit as audit
    from truerisk.auditing.outcome import Audit as Audit
    from truerisk.comparison.many import compare_many as compare_many
    from truerisk.comparison.many_comparison import ManyComparison as ManyComparison
    from truerisk.comparison.paired import compare as compare
    from truerisk.diagnostics.learning_curve import learning_curve as learning_curve
    from truerisk.diagnostics.permutation_test import permutation_test as permutation_test
    from truerisk.diagnostics.permutations import PermutationTest as PermutationTest
    from truerisk.diagnostics.risk_over_time import RiskOverTime as RiskOverTime
    from truerisk.diagnostics.risk_over_time import risk_over_time as risk_over_time
    from truerisk.diagnostics.show_versions import show_versions as show_versions
    from truerisk.estimation.bayesian_error import bayesian_error as bayesian_error
    from truerisk.estimation.estimate import estimate_risk as estimate_risk
    from truerisk.estimation.estimate import risk_curve as risk_curve
    from truerisk.external.audit_table import audit_table as audit_table
    from truerisk.external.ladder import Ladder as Ladder
    from truerisk.external.table_audit import TableAudit as TableAudit
    from truerisk.planning.plan_comparison import ComparisonPlan as ComparisonPlan
    from truerisk.planning.plan_comparison import plan_comparison as plan_comparison
    from truerisk.planning.plan_model import plan_development as plan_development
    from truerisk.planning.plan_sample import SamplePlan as SamplePlan
    from truerisk.planning.plan_sample import plan_sample as plan_sample
    from truerisk.planning.plan_validation import plan_validation as plan_validation
    from truerisk.results.comparison import Comparison as Comparison
    from truerisk.results.error_posterior import ErrorPosterior as ErrorPosterior
    from truerisk.results.learning_curve import LearningCurve as LearningCurve
    from truerisk.results.results import RiskCurve as RiskCurve
    from truerisk.results.results import RiskEstimate as RiskEstimate
    from truerisk.results.roc import RocCurve as RocCurve
    from truerisk.results.selection_bias import SelectionBias as SelectionBias
    from truerisk.search.search import HonestSearchCV as HonestSearchCV
    from truerisk.study.study import Study as Study
    from truerisk.validation.validate import validate as validate
    from truerisk.validation.validate_predictions import (
        validate_predictions as validate_predictions,
    )
    from truerisk.validation.validation import Validation as Validation


# A type checker that saw `__getattr__` would accept any attribute name.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        from truerisk.core.registry import check_present, make_attribute_error

        module_name = _MODULE_BY_NAME.get(name) or _PACKAGE_BY_NAME.get(name)
        if module_name is None:
            raise make_attribute_error(__name__, name, __all__)
        check_present(module_name)
        attribute = import_module(module_name)
        if name in _MODULE_BY_NAME:
            attribute = getattr(attribute, name)
        globals()[name] = attribute  # Later accesses find the stored value.
        return attribute


def __dir__() -> list[str]:
    return sorted(__all__)
