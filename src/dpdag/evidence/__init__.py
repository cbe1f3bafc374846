"""Log evidence of a child given its parent set, the mechanism integrated or solved out."""
