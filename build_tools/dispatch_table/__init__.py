"""From the data to the static dispatch table, its C++ form and the support matrix."""
