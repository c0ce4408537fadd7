"""Compare several tuned learners on the same splits with `assess`, and draw a conclusion."""
