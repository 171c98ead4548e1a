"""Layer normalisation in bfloat16, with affine parameters."""
import torch
import torch.nn as nn

ROWS, WIDTH = 300, 640


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width, dtype=torch.bfloat16)
        nn.init.normal_(self.norm.weight)
        nn.init.normal_(self.norm.bias)

    def forward(self, x):
        return self.norm(x)


def get_inputs():
    return [(torch.randn(ROWS, WIDTH) * 2 + torch.randn(ROWS, 1)).bfloat16()]


def get_init_inputs():
    return [WIDTH]
