"""Parts of the engine of support vector machines."""
