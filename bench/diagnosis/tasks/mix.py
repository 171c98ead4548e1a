"""Two images blended by a third, and the blend's square added."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, y, weight):
        m = y + weight * (x - y)
        return m + 0.5 * m * m


def get_inputs():
    return [torch.randn(256, 1024), torch.randn(256, 1024), torch.rand(256, 1024)]


def get_init_inputs():
    return []
