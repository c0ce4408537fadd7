"""Engine for nearest neighbours: one sorted list of neighbours per row serves all fits and k."""
