"""The class of what a check finds, and the table of all codes."""

from truerisk.core.finding import CODES, Finding, Severity, by_severity

__all__ = ["CODES", "Finding", "Severity", "by_severity"]
