"""Templates that engines share: one pass over a training set, and the storage of answers."""
