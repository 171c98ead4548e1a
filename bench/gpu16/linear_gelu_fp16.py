"""A dense layer and the exact GELU in half precision."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.dense = nn.Linear(2048, 8192).half()

    def forward(self, x):
        return F.gelu(self.dense(x))


def get_inputs():
    return [torch.randn(4096, 2048).to(torch.float16)]


def get_init_inputs():
    return []
