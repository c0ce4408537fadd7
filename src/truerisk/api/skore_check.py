"""The audit as a check of skore reports: a class that follows skore's `Check` protocol."""

from __future__ import annotations

from importlib import import_module
from typing import Any, ClassVar

from truerisk.api.audit import audit
from truerisk.core.errors import MissingExtra, TrueRiskError

__all__ = ["AuditCheck"]


class AuditCheck:
    """Audits the search that a skore `EstimatorReport` reports on, on its training rows.

    `options` are those of `tr.audit`, such as ``level`` and ``groups``. The protocol is structural,
    so the class needs skore only when a report is not of a search and must be passed over.

    >>> check = AuditCheck(level="scores")
    >>> check.code, check.severity
    ('TRAUDIT', 'issue')
    """

    code = "TRAUDIT"
    title = "Score of the search"
    report_types: ClassVar[list[str]] = ["estimator"]
    docs_url = None
    severity = "issue"

    def __init__(self, **options: Any) -> None:
        self.options = options
        self.slow = options.get("level", "bbc") != "scores"

    def check_function(self, report: Any) -> str | None:
        """The conclusion with all serious findings and warnings, or None where there is none."""
        X, y = report.X_train, report.y_train
        if X is None or y is None:
            raise _not_applicable("the report holds no training rows to audit the search on.")
        try:
            found = audit(report.estimator_, X, y, **self.options)
        except TrueRiskError as error:
            raise _not_applicable(str(error)) from error
        told = [str(f) for f in found.findings if f.severity != "note"]
        return " ".join([found.conclusion, *told]) if told else None


def _not_applicable(sentence: str) -> Exception:
    """What skore expects of a check that cannot run."""
    try:
        skore = import_module("skore")
    except ImportError:
        return MissingExtra(f"the audit cannot run here, and skore is not installed: {sentence}")
    return skore.CheckNotApplicable(sentence)
