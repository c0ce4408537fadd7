"""`HonestSearchCV`, what it is made of, and what any fitted search claims."""
