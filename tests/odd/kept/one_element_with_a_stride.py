# solved: the only element of an input has strides that torch does not view as bytes.
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(1, 1)

    def forward(self, x):
        return self.mix(x) + torch.arange(x.shape[1])


def get_inputs():
    return [torch.randn(2, 3)[::2, 1::3]]


def get_init_inputs():
    return []
