"""What the documentation claims, an experiment each."""
