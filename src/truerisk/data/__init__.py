"""Rows of any table a user may hold, and what is known of them."""
