"""Building blocks for a method, an interval, a loss, an engine or a result of your own.

Your object is passed where a name would be passed: as `cv=`, `interval=`, `scoring=` or `engine=`.
`truerisk.testing` checks your methods and engines as it checks those of this package.
"""

from truerisk.contracts import Method, Request, Rule, Streams, Terms
from truerisk.core.errors import BadArgument, BadData, Refusal, TrueRiskError, TrueRiskWarning
from truerisk.core.family import Family
from truerisk.core.tables import Block
from truerisk.data.data import Data
from truerisk.engines.asking import Asking
from truerisk.engines.settings import Group
from truerisk.engines.templates.one_pass import OnePass
from truerisk.engines.templates.task import Shown, Task
from truerisk.intervals.form import OF_A_MEAN, IntervalForm, Needs, RowEvidence, Sureness
from truerisk.losses.loss import Average, Loss, RowLoss
from truerisk.methods.parts.averages import Averaged, tested_by_average
from truerisk.methods.parts.procedure import chosen_candidate
from truerisk.plan import ALL, Plan, PlanBuilder
from truerisk.plan.answers import Answers
from truerisk.plan.extras.linear_rules import LinearRules
from truerisk.plan.extras.model_facts import ModelFacts
from truerisk.results.evaluation import Evaluation, Target, Tested
from truerisk.results.interval import Basis, Interval
from truerisk.results.records import UNWRITTEN, Column, Range, Record, Written

__all__ = [
    "ALL",
    "OF_A_MEAN",
    "UNWRITTEN",
    "Answers",
    "Asking",
    "Average",
    "Averaged",
    "BadArgument",
    "BadData",
    "Basis",
    "Block",
    "Column",
    "Data",
    "Evaluation",
    "Family",
    "Group",
    "Interval",
    "IntervalForm",
    "LinearRules",
    "Loss",
    "Method",
    "ModelFacts",
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
    "Rule",
    "Shown",
    "Streams",
    "Sureness",
    "Target",
    "Task",
    "Terms",
    "Tested",
    "TrueRiskError",
    "TrueRiskWarning",
    "Written",
    "chosen_candidate",
    "tested_by_average",
]
