"""Settings for every test."""

from hypothesis import HealthCheck, settings

# The same examples on every machine, and no judgement of time: the machines are noisy.
settings.register_profile("project", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("project")
