"""Sum over the middle dimension of a large tensor; bound by memory."""
import torch
import torch.nn as nn

BATCH, LENGTH, WIDTH = 40, 400, 1000


class Model(nn.Module):
    def forward(self, x):
        return torch.sum(x, dim=1, keepdim=True)


def get_inputs():
    return [torch.randn(BATCH, LENGTH, WIDTH)]


def get_init_inputs():
    return []
