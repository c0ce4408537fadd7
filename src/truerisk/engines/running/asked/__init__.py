"""Extra outputs of fitted models besides predictions, computed by the generic engine."""
