"""A selective state-space layer: decay and input of the state depend on the time step."""
import torch
import torch.nn as nn
import torch.nn.functional as F

LENGTH = 2048


class Model(nn.Module):
    def __init__(self, channels, states):
        super().__init__()
        self.rank = channels // 16
        self.into = nn.Linear(channels, self.rank + 2 * states, bias=False)
        self.step = nn.Linear(self.rank, channels)
        self.log_decay = nn.Parameter(torch.log(torch.arange(1, states + 1).float()).repeat(channels, 1))
        self.skip = nn.Parameter(torch.ones(channels))
        self.states = states

    def forward(self, x):
        step, b, c = self.into(x).split([self.rank, self.states, self.states], dim=-1)
        step = F.softplus(self.step(step))
        decay = -torch.exp(self.log_decay)
        state = x.new_zeros(x.shape[0], x.shape[2], self.states)
        out = []
        for t in range(x.shape[1]):
            keep = torch.exp(step[:, t, :, None] * decay)
            state = keep * state + (step[:, t] * x[:, t])[:, :, None] * b[:, t, None, :]
            out.append((state * c[:, t, None, :]).sum(-1))
        return torch.stack(out, dim=1) + x * self.skip


def get_inputs():
    return [torch.randn(2, LENGTH, 512)]


def get_init_inputs():
    return [512, 16]
