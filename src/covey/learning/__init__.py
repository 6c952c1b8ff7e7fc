"""Learning: any scenario as an environment of PettingZoo or Gymnasium."""

from typing import TYPE_CHECKING

from covey.lazy import names_of

if TYPE_CHECKING:
    from covey.controllers.policies.knowledge import Knowledge
    from covey.learning.environment import Environment
    from covey.learning.make import env
    from covey.learning.single import SingleEnvironment, single_env
    from covey.learning.vector import VectorEnvironment, vector_env

__all__ = ["Environment", "Knowledge", "SingleEnvironment", "VectorEnvironment", "env", "single_env", "vector_env"]

_HOMES = {
    "Environment": "covey.learning.environment",
    "Knowledge": "covey.controllers.policies.knowledge",
    "SingleEnvironment": "covey.learning.single",
    "VectorEnvironment": "covey.learning.vector",
    "env": "covey.learning.make",
    "single_env": "covey.learning.single",
    "vector_env": "covey.learning.vector",
}

__getattr__ = names_of(__name__, _HOMES)
