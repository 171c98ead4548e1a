"""Gated linear unit: one projection through swish times another projection."""
import torch
import torch.nn as nn

ROWS, FEATURES, HIDDEN = 260, 200, 330


class Model(nn.Module):
    def __init__(self, features, hidden):
        super().__init__()
        self.gate = nn.Linear(features, hidden, bias=False)
        self.value = nn.Linear(features, hidden, bias=False)

    def forward(self, x):
        return nn.functional.silu(self.gate(x)) * self.value(x)


def get_inputs():
    return [torch.randn(ROWS, FEATURES) * 2]


def get_init_inputs():
    return [FEATURES, HIDDEN]
