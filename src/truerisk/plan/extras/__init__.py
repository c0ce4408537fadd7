"""Types of requests that a plan may make besides predictions, one type per file."""
