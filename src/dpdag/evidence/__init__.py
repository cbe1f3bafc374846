"""Evidence of a column given its causes, functions integrated out."""
