"""Studies: thousands of replicates that survive crashes, on one machine or many.

A study is a set of *cells* (all that determines a result but the number of the replicate), and of
each cell replicates 0, 1, 2 … A *task* is one replicate of one cell; a *fate* is what became of it.
"""

from truerisk.core.registry import check_present

check_present("truerisk.engines.workers")
