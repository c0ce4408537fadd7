"""Engine for support vector machines: one Gram matrix per kernel serves every C and every fold."""
