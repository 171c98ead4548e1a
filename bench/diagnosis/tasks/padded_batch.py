"""A fixed number of relaxation steps for the rows that are in use; the others are padding and give zero."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, used):
        h = x.clamp(-1, 1)
        for _ in range(32):
            h = h * 0.875 + h * h * 0.0625
        return torch.where(used[:, None] > 0, h, torch.zeros_like(h))


def get_inputs():
    return [torch.randn(2048, 768), (torch.arange(2048) < 1100).float()]


def get_init_inputs():
    return []
