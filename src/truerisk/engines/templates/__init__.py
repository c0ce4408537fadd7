"""What engines have in common: plans walked in one pass, and answers put in their place."""
