"""A selective scan as state-space models have it: factors of all time steps, a state, and a product with a vector in
each step, whose results are joined along the last dimension."""

import torch
import torch.nn.functional as F
from torch import nn

STEPS, WIDTH, STATE = 24, 40, 16


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Parameter(torch.rand(WIDTH, STATE))
        self.bias = nn.Parameter(torch.randn(WIDTH))
        self.skip = nn.Parameter(torch.randn(WIDTH))

    def forward(self, x, dt, b, c, start):
        dt = F.softplus(dt + self.bias[:, None])
        decay = torch.exp(-torch.exp(self.a)[None, :, None] * dt[..., None])
        drive = dt[..., None] * b[:, None] * x[..., None]
        state, found = start, []
        for step in range(STEPS):
            state = decay[:, :, step] * state + drive[:, :, step]
            found.append((state @ c[:, step, :, None])[..., 0])
        return torch.stack(found, -1) + x * self.skip[:, None], state, drive.sum((1, 3))


def get_inputs():
    return [
        torch.randn(2, WIDTH, STEPS),
        torch.randn(2, WIDTH, STEPS),
        torch.randn(2, STEPS, STATE),
        torch.randn(2, STEPS, STATE),
        torch.zeros(2, WIDTH, STATE),
    ]


def get_init_inputs():
    return []
