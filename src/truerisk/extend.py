"""What a method, an interval, a loss, an engine or a result of your own is made of.

Each is given as an object where its word would stand: `cv=`, `interval=`, `scoring=`, `engine=`.
`truerisk.testing` checks methods and engines as it checks ours.
"""

from truerisk.contracts import Method, Request, Streams, Terms
from truerisk.core.errors import BadArgument, BadData, Refusal, TrueRiskError
from truerisk.core.family import Family
from truerisk.core.present import Block
from truerisk.data.data import Data
from truerisk.engines.settings import Group
from truerisk.engines.templates.one_pass import OnePass
from truerisk.engines.templates.task import Shown, Task
from truerisk.intervals.evidence import RowEvidence
from truerisk.intervals.form import OF_A_MEAN, IntervalForm, Needs, Sureness
from truerisk.losses.loss import Average, Loss, RowLoss
from truerisk.methods.parts.averages import Averaged, tested_by_average
from truerisk.plan import ALL, Plan, PlanBuilder
from truerisk.plan.answers import Answers
from truerisk.results.evaluation import Target, Tested
from truerisk.results.interval import Basis, Interval
from truerisk.results.records import Column, Range, Record

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
