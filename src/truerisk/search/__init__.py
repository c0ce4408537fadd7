"""`HonestSearchCV`, its parts, and the claims of any fitted search."""
