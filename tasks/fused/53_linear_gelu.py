"""Linear layer with bias, then GELU."""
import torch
import torch.nn as nn

ROWS, FEATURES, OUTPUTS = 500, 300, 420


class Model(nn.Module):
    def __init__(self, features, outputs):
        super().__init__()
        self.linear = nn.Linear(features, outputs)
        nn.init.normal_(self.linear.bias)

    def forward(self, x):
        return nn.functional.gelu(self.linear(x))


def get_inputs():
    return [torch.randn(ROWS, FEATURES) * 2]


def get_init_inputs():
    return [FEATURES, OUTPUTS]
