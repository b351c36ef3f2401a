"""The build graph: which steps there are, what each does, and running them with ninja."""
