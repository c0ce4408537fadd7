"""What engines share: one pass over a train set, and where the answers go."""
