"""Maximum over the middle dimension, values only."""
import torch
import torch.nn as nn

BATCH, LENGTH, WIDTH = 30, 60, 500


class Model(nn.Module):
    def forward(self, x):
        return torch.max(x, dim=1).values


def get_inputs():
    return [torch.randn(BATCH, LENGTH, WIDTH) + torch.randn(BATCH, 1, WIDTH)]


def get_init_inputs():
    return []
