"""What a plan may ask besides answers about rows, one type in each file."""
