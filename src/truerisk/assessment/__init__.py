"""`assess`: several tuned learners on the same splits, and what to conclude."""
