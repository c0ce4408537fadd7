"""The HTML pages and figures of results, and the small pictures that notebooks show."""
