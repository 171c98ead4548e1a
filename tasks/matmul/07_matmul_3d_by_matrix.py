"""Three-dimensional tensor times one matrix on its last dimension."""
import torch
import torch.nn as nn

BATCH, TOKENS, DEPTH, COLUMNS = 12, 100, 256, 190


class Model(nn.Module):
    def forward(self, x, matrix):
        return torch.einsum("btd,dc->btc", x, matrix)


def get_inputs():
    return [torch.randn(BATCH, TOKENS, DEPTH), torch.randn(DEPTH, COLUMNS)]


def get_init_inputs():
    return []
