"""A three by three box sum of three large images."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.nn.functional.avg_pool2d(x[:, None], 3, stride=1)[:, 0] * 9


def get_inputs():
    return [torch.randn(3, 770, 770)]


def get_init_inputs():
    return []
