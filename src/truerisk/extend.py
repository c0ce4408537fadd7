"""What a method, an interval, a loss, an engine or a result of your own is made of.

Each is given as an object where its word would stand: `method=`, `interval=`, `loss=`, `engine=`.
`truerisk.testing` checks methods and engines as it checks ours.
"""

from truerisk.core.answers import Answers
from truerisk.core.contracts import Method, Request, Streams, Target, Terms
from truerisk.core.errors import BadArgument, BadData, Refusal, TrueRiskError
from truerisk.core.evaluation import Tested
from truerisk.core.family import Family
from truerisk.core.interval import Basis, Interval
from truerisk.core.loss import Average, Loss, RowLoss
from truerisk.core.plan import ALL, Plan, PlanBuilder
from truerisk.core.present import Block
from truerisk.core.records import Column, Range, Record
from truerisk.core.table.data import Data
from truerisk.engines.settings import Group
from truerisk.engines.templates.one_pass import OnePass
from truerisk.engines.templates.task import Shown, Task
from truerisk.methods.interval_forms.evidence import RowEvidence
from truerisk.methods.interval_forms.form import OF_A_MEAN, IntervalForm, Needs, Sureness
from truerisk.methods.parts.averages import Averaged, tested_by_average

__all__ = [
    "ALL",
    "OF_A_MEAN",
    "Answers",
    "Average",
    "Averaged",
    "BadArgument",
    "BadData",
    "Basis",
    "Block",
    "Column",
    "Data",
    "Family",
    "Group",
    "Interval",
    "IntervalForm",
    "Loss",
    "Method",
    "Needs",
    "OnePass",
    "Plan",
    "PlanBuilder",
    "Range",
    "Record",
    "Refusal",
    "Request",
    "RowEvidence",
    "RowLoss",
    "Shown",
    "Streams",
    "Sureness",
    "Target",
    "Task",
    "Terms",
    "Tested",
    "TrueRiskError",
    "tested_by_average",
]
