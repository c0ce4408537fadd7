"""Errors and warnings of truerisk, for code that catches the errors or filters the warnings.

>>> import warnings
>>> import truerisk as tr
>>> warnings.simplefilter("error", tr.exceptions.LeakWarning)

Every error is a subclass of `TrueRiskError`, and every warning one of `TrueRiskWarning`.
"""

from truerisk.core.errors import (
    BadArgument,
    BadData,
    BadStore,
    BoundMissed,
    CompiledModuleWarning,
    DuplicateRowsWarning,
    FindingWarning,
    FitFailed,
    FitFailedTypeError,
    FitFailedValueError,
    FitFailedWarning,
    FittedPartWarning,
    GroupLeakWarning,
    LeakWarning,
    MissingBranch,
    MissingExtra,
    MissingResult,
    NoEngine,
    NotWritten,
    Refusal,
    SpaceLeakWarning,
    StoreLocked,
    StudyIncomplete,
    TimeLeakWarning,
    TrueRiskError,
    TrueRiskWarning,
    UnknownName,
)

__all__ = [
    "BadArgument",
    "BadData",
    "BadStore",
    "BoundMissed",
    "CompiledModuleWarning",
    "DuplicateRowsWarning",
    "FindingWarning",
    "FitFailed",
    "FitFailedTypeError",
    "FitFailedValueError",
    "FitFailedWarning",
    "FittedPartWarning",
    "GroupLeakWarning",
    "LeakWarning",
    "MissingBranch",
    "MissingExtra",
    "MissingResult",
    "NoEngine",
    "NotWritten",
    "Refusal",
    "SpaceLeakWarning",
    "StoreLocked",
    "StudyIncomplete",
    "TimeLeakWarning",
    "TrueRiskError",
    "TrueRiskWarning",
    "UnknownName",
]
