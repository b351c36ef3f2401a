"""Where code objects come from, and the lock that says which bytes are accepted."""
