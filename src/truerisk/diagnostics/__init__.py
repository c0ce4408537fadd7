"""Questions about a learner beside its risk: fewer rows, permuted labels, drift, versions."""
