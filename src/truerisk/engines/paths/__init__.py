"""Parts of the engine of penalised logistic regression."""
