"""Learning: any scenario as an environment of PettingZoo or Gymnasium."""

__all__ = ["Environment", "Seen", "VectorEnvironment", "env", "vector_env"]

from covey.lazy import names_of

_HOMES = {
    "Environment": "covey.learning.environment",
    "Seen": "covey.learning.seen",
    "VectorEnvironment": "covey.learning.vector",
    "env": "covey.learning.environment",
    "vector_env": "covey.learning.vector",
}

__getattr__ = names_of(__name__, _HOMES)
