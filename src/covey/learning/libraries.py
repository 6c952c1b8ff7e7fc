"""The libraries of the extra ``learning``."""

from covey.errors import CoveyError

try:
    from gymnasium import Env as Env
    from gymnasium import spaces as spaces
    from gymnasium.vector import VectorEnv as VectorEnv
    from pettingzoo import ParallelEnv as ParallelEnv
except ModuleNotFoundError as error:
    raise CoveyError(f"environments need {error.name}; install it with: pip install 'covey[learning]'") from None
