"""Engine for classifiers that divide one feature into at most k intervals, for every k at once."""
