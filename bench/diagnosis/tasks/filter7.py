"""A 7 x 7 filter, without the border."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, weight):
        return torch.nn.functional.conv2d(x[None, None], weight[None, None])[0, 0]


def get_inputs():
    return [torch.randn(1030, 1030), torch.randn(7, 7)]


def get_init_inputs():
    return []
