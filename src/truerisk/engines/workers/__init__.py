"""Execution of fits: in this process, in worker processes, on a user's executor or a cluster."""
