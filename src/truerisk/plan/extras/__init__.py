"""Types of additional questions that a plan may ask, one per file."""
