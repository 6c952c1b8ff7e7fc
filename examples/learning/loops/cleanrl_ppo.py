"""PPO in one file, in the style of CleanRL, over `covey.learning.vector_env`; it writes ppo.onnx and its record.

    pip install torch onnx
    python examples/learning/loops/cleanrl_ppo.py [--worlds 32] [--steps 1000000]

J. Schulman et al.: Proximal policy optimization algorithms, 2017, arXiv:1707.06347.
"""

import torch
from task import arguments, many
from torch import nn

LENGTH, EPOCHS, PARTS, GAMMA, LAMBDA, CLIP = 32, 4, 4, 0.99, 0.95, 0.2
torch.manual_seed(0)
torch.set_num_threads(1)
options = arguments(__doc__ or "", steps=1_000_000)
worlds = many(options.worlds, "next_step")
keys = list(worlds.single_observation_space.spaces)
n = worlds.num_envs


def flat(shown):
    """Return what all robots observe as one tensor (n, size)."""
    return torch.cat([torch.from_numpy(shown[key].reshape(n, -1).copy()) for key in keys], dim=1)


shown, _ = worlds.reset(seed=0)
size, actions = flat(shown).shape[1], worlds.single_action_space.shape[0]
actor = nn.Sequential(nn.Linear(size, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, actions))
critic = nn.Sequential(nn.Linear(size, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))
log_std = nn.Parameter(torch.full((actions,), -0.5))
optimiser = torch.optim.Adam([*actor.parameters(), *critic.parameters(), log_std], lr=1e-3)

x, over = flat(shown), torch.zeros(n, dtype=torch.bool)
for update in range(max(options.steps // (LENGTH * n), 1)):
    saw, chose, logp, gains, values, ends, counts = ([] for _ in range(7))
    for _ in range(LENGTH):
        with torch.no_grad():
            way = torch.distributions.Normal(actor(x), log_std.exp())
            action = way.sample()
            values.append(critic(x)[:, 0])
        saw.append(x)
        chose.append(action)
        logp.append(way.log_prob(action).sum(1))
        counts.append(~over)  # in the step in which a world begins anew, actions do nothing
        shown, reward, terminated, truncated, _ = worlds.step(action.clamp(-1, 1).numpy())
        over = torch.from_numpy(terminated | truncated)
        gains.append(torch.from_numpy(reward).float())
        ends.append(over)
        x = flat(shown)
    with torch.no_grad():
        following, advantage, advantages = critic(x)[:, 0], torch.zeros(n), []
        for k in reversed(range(LENGTH)):
            goes_on = (~ends[k]).float()
            error = gains[k] + GAMMA * following * goes_on - values[k]
            advantage = error + GAMMA * LAMBDA * goes_on * advantage
            advantages.insert(0, advantage)
            following = values[k]
    used = torch.cat(counts)
    batch = [torch.cat(one)[used] for one in (saw, chose, logp, advantages, values)]
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(batch[0])).chunk(PARTS):
            seen, action, before, gain, value = (one[rows] for one in batch)
            way = torch.distributions.Normal(actor(seen), log_std.exp())
            ratio = (way.log_prob(action).sum(1) - before).exp()
            scaled = (gain - gain.mean()) / (gain.std() + 1e-8)
            loss = -torch.min(ratio * scaled, ratio.clamp(1 - CLIP, 1 + CLIP) * scaled).mean()
            loss = loss + 0.5 * (critic(seen)[:, 0] - value - gain).pow(2).mean()
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(actor.parameters(), 0.5)
            optimiser.step()
    print(f"update {update}: reward of a decision {torch.stack(gains).mean():.4f}", flush=True)


class Whole(nn.Module):
    """The actor, with an input for each observation."""

    def __init__(self):
        super().__init__()
        self.actor = actor

    def forward(self, *parts):
        """Return the actions (n, 2)."""
        return self.actor(torch.cat([part.flatten(1) for part in parts], dim=1)).clamp(-1, 1)


inputs = tuple(torch.from_numpy(shown[key].copy()) for key in keys)
torch.onnx.export(
    Whole(), inputs, "ppo.onnx", input_names=keys, output_names=["action"], dynamo=False,
    dynamic_axes={key: {0: "robots"} for key in keys},
)  # fmt: skip
print("wrote ppo.onnx and", worlds.worlds[0].save_record("ppo.onnx"))
worlds.close()
