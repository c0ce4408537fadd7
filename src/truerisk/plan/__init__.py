"""Plans, which say which rows each fit is trained on and which rows it predicts.

Plans are drawn once, hashed and replayed.
"""

from truerisk.plan.blocks import ALL
from truerisk.plan.builder import PlanBuilder
from truerisk.plan.plan import Plan

__all__ = ["ALL", "Plan", "PlanBuilder"]
