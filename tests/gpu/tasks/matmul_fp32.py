"""Product of two matrices."""
import torch
import torch.nn as nn

M, K, N = 200, 328, 176


class Model(nn.Module):
    def forward(self, a, b):
        return torch.matmul(a, b)


def get_inputs():
    return [torch.randn(M, K), torch.randn(K, N)]


def get_init_inputs():
    return []
