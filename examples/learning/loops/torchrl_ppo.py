"""PPO of TorchRL over `covey.env`, through its wrapper for PettingZoo.

pip install torchrl
python examples/learning/loops/torchrl_ppo.py [--steps 20000]
"""

import torch
from task import arguments, one
from tensordict.nn import NormalParamExtractor, TensorDictModule
from torch import nn
from torchrl.envs import MarlGroupMapType, PettingZooWrapper
from torchrl.modules import MultiAgentMLP, ProbabilisticActor, TanhNormal
from torchrl.objectives import ClipPPOLoss, ValueEstimators

LENGTH, EPOCHS = 64, 4
torch.manual_seed(0)
torch.set_num_threads(1)
options = arguments(__doc__ or "", steps=20_000)
together = MarlGroupMapType.ALL_IN_ONE_GROUP
world = PettingZooWrapper(one(), use_mask=False, return_state=False, seed=0, group_map=together)
(GROUP, names), *_ = world.group_map.items()
n = len(names)
keys = list(world.observation_spec[GROUP, "observation"].keys())


class Flat(nn.Module):
    """What robots observe, as one tensor (…, robots, size), and a network over it."""

    def __init__(self, net: nn.Module):
        super().__init__()
        self.net = net

    def forward(self, *parts):
        """Return what the network says."""
        rows = parts[0].shape[:-1]
        return self.net(torch.cat([part.reshape(*rows, -1) for part in parts], dim=-1))


seen = [(GROUP, "observation", key) for key in keys]
size = sum(world.observation_spec[name].shape[1:].numel() for name in seen)
width = world.action_spec[GROUP, "action"].shape[-1]
shape = {
    "n_agents": n,
    "centralized": False,
    "share_params": True,
    "depth": 2,
    "num_cells": 64,
    "activation_class": nn.Tanh,
}
net = Flat(
    nn.Sequential(MultiAgentMLP(n_agent_inputs=size, n_agent_outputs=2 * width, **shape), NormalParamExtractor())
)
actor = ProbabilisticActor(
    TensorDictModule(net, in_keys=seen, out_keys=[(GROUP, "loc"), (GROUP, "scale")]),
    in_keys=[(GROUP, "loc"), (GROUP, "scale")],
    out_keys=[(GROUP, "action")],
    spec=world.action_spec,
    distribution_class=TanhNormal,
    return_log_prob=True,
    log_prob_key=(GROUP, "log_prob"),
)
critic = TensorDictModule(
    Flat(MultiAgentMLP(n_agent_inputs=size, n_agent_outputs=1, **shape)), in_keys=seen, out_keys=[(GROUP, "value")]
)
loss_of = ClipPPOLoss(actor, critic, entropy_coeff=1e-3, normalize_advantage=False)
loss_of.set_keys(
    reward=(GROUP, "reward"), action=(GROUP, "action"), sample_log_prob=(GROUP, "log_prob"),
    value=(GROUP, "value"), done=(GROUP, "done"), terminated=(GROUP, "terminated"),
)  # fmt: skip
loss_of.make_value_estimator(ValueEstimators.GAE, gamma=0.99, lmbda=0.95)
optimiser = torch.optim.Adam(loss_of.parameters(), lr=1e-3)

for update in range(max(options.steps // (LENGTH * n), 1)):
    with torch.no_grad():
        data = world.rollout(LENGTH, actor, break_when_any_done=False)
        loss_of.value_estimator(
            data, params=loss_of.critic_network_params, target_params=loss_of.target_critic_network_params
        )
    for _ in range(EPOCHS):
        losses = loss_of(data)
        loss = losses["loss_objective"] + losses["loss_critic"] + losses["loss_entropy"]
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(loss_of.parameters(), 1.0)
        optimiser.step()
    print(f"update {update}: reward of a decision {data['next', GROUP, 'reward'].mean():.4f}", flush=True)
world.close()
