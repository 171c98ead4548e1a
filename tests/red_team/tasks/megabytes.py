"""Sets so large that the ring holds only a few."""
import torch
import torch.nn as nn

class Model(nn.Module):
    def forward(self, x):
        return 0.5 * x + 1


def get_inputs():
    return [torch.randn(1200, 1200)]


def get_init_inputs():
    return []
