"""The squared distance of each point to the nearest centre."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, centres):
        best = torch.full_like(x[0], float("inf"))
        for c in centres:
            best = torch.minimum(best, ((x - c[:, None]) ** 2).sum(0))
        return best


def get_inputs():
    return [torch.randn(8, 131072), torch.randn(48, 8)]


def get_init_inputs():
    return []
