"""What steps before a learner give, and whether an engine can compute with it."""
