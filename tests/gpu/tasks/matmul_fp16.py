"""Product of two matrices in half precision."""
import torch
import torch.nn as nn

M, K, N = 160, 272, 120


class Model(nn.Module):
    def forward(self, a, b):
        return torch.matmul(a, b)


def get_inputs():
    return [(torch.randn(M, K) / 4).half(), torch.randn(K, N).half()]


def get_init_inputs():
    return []
