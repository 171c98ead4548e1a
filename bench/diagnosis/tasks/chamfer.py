"""For each point of either cloud, the squared distance to the nearest point of the other."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, y):
        d = (x[:, None] - y[None]).pow(2).sum(-1)
        return torch.cat([d.min(1).values, d.min(0).values])


def get_inputs():
    return [torch.randn(2048, 3), torch.randn(4608, 3)]


def get_init_inputs():
    return []
