"""A result as HTML: one file that needs nothing else, or a fragment for a notebook."""
