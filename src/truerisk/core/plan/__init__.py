"""Which fit sees what, and what it is asked: plans, drawn once, hashed and replayed.

| file | what it holds |
|---|---|
| `plan.py` | `Plan`: the rows of every fit and of every question |
| `blocks.py` | what plans are coded in: a pool of blocks, and row sets over it |
| `special_fits.py` | replaced labels, drawn train sets, moved points |
| `builder.py` | `PlanBuilder`: one question at a time |
| `partitions.py` | plans of thousands of fits at once: every block left out, every label flipped |
| `pairs.py` | every fold of a partition left out alone, and every two of them |
| `training_rows.py` | the same fits, asked about their train sets as well |
| `nesting.py` | plans inside the train sets of a plan |
| `equal_fits.py` | equal train sets become one fit |
| `samples.py` | plans of drawn samples |
| `order.py` | whether splits go forward in time |
| `leaks.py` | rows tested by models that saw a copy, or another row of the group |
| `nearest_seen.py` | how far tested rows lie from the rows that their models saw |
"""

from truerisk.core.plan.blocks import ALL
from truerisk.core.plan.builder import PlanBuilder
from truerisk.core.plan.plan import Plan

__all__ = ["ALL", "Plan", "PlanBuilder"]
