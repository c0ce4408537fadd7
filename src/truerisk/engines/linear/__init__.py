"""Parts of the engines of least squares and of kernel ridge."""
