"""Arrays in, numbers out: formulas that know neither plans nor learners."""
