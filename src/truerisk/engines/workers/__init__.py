"""Executors of the fits: this process, its workers, an executor of the user, or a cluster."""
