"""Where work is done: in this process, on its workers, on an executor of the user, on a cluster."""
