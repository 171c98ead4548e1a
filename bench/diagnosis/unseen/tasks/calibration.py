"""The squared error of rounding to each of sixteen candidate steps, for each row."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, steps):
        error = []
        for k in range(steps.shape[0]):
            rounded = torch.floor(x * (1 / steps[k]) + 0.5) * steps[k]
            error.append(((x - rounded) ** 2).sum(1))
        return torch.stack(error, 1)


def get_inputs():
    return [torch.randn(64, 2048), 0.02 + 0.2 * torch.rand(16)]


def get_init_inputs():
    return []
