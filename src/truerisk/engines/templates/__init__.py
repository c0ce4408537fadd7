"""Base classes of engines that predict for many candidates from one fit, or in one pass."""
