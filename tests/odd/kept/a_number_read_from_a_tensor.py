# solved: the graph has operators of Python on a number that forward reads from a tensor.
import collections
import dataclasses
import math
import torch
from torch import nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
    def forward(self, x):
        y = x
        assert y.dim() >= 2, 'two dimensions'
        print('forward runs', y.shape)
        y = y - y.mean(-1, keepdim=True)
        y = F.layer_norm(y, (3,))
        y = y + torch.arange(y.shape[1])
        y = y / (1 + abs(y.abs().sum().item()))
        return y

def get_inputs():
    return [torch.randn(7, 3, requires_grad=True)]

def get_init_inputs():
    return []

