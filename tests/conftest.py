"""How much Hypothesis does: `pytest --hypothesis-profile=nightly` draws many more programs."""

from hypothesis import HealthCheck, settings

SLOW_START = [HealthCheck.too_slow, HealthCheck.data_too_large]

settings.register_profile(
    "ci", max_examples=40, deadline=None, derandomize=True, suppress_health_check=SLOW_START
)
settings.register_profile(
    "nightly", max_examples=5000, deadline=None, suppress_health_check=SLOW_START
)
settings.load_profile("ci")
