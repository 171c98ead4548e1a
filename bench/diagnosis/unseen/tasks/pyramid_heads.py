"""One head, a product over the channels, on each level of a feature pyramid."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, p3, p4, p5, p6, weight):
        return torch.cat([weight @ p.flatten(1) for p in (p3, p4, p5, p6)], 1)


def get_inputs():
    sides = (96, 48, 24, 12)
    return [torch.randn(32, side, side) for side in sides] + [torch.randn(24, 32)]


def get_init_inputs():
    return []
