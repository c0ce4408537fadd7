"""`HonestSearchCV`, and the reading of scores that any fitted search reports."""
