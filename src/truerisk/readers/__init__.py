"""Files of users as features and target: formats, cells, columns, roles, and what is damaged."""
