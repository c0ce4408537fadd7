"""Two learners on the same rows and splits, and methods over many data sets."""
