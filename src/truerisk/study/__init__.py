"""Simulation studies: thousands of replicates, on one machine or many, that survive crashes.

A *cell* is a combination of problem, size, learner and method: everything that determines a result
except the number of the replicate. Each cell has replicates 0, 1, 2, ... A *task* is one replicate
of one cell. The *outcome* of a task is its result, or the error that it raised.
"""

from truerisk.core.registry import check_present

check_present("truerisk.engines.workers")
