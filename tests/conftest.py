"""Properties are judged by their truth, not by how fast a loaded machine finds it."""

from hypothesis import HealthCheck, settings

settings.register_profile("covey", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("covey")
