"""The private environment: what the build and the tests run in."""
