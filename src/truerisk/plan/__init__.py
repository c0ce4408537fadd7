"""Which fit sees what, and what it is asked: plans, drawn once, hashed and replayed.

| file | what it holds |
|---|---|
| `plan.py` | `Plan`: the rows of every fit and of every question |
| `blocks.py` | what plans are coded in: row sets over blocks, replaced labels, drawn train sets |
| `builder.py` | `PlanBuilder`: one question at a time; equal train sets become one fit |
| `partitions.py` | plans of thousands of fits at once: every block left out, samples drawn |
| `nesting.py` | plans made of a plan: in its train sets, without two folds, asked of train sets |
| `leaks.py` | rows tested by models that saw too much, how near, and whether splits go on in time |
"""

from truerisk.plan.blocks import ALL
from truerisk.plan.builder import PlanBuilder
from truerisk.plan.plan import Plan

__all__ = ["ALL", "Plan", "PlanBuilder"]
