"""Product of two matrices in bfloat16."""
import torch
import torch.nn as nn

M, K, N = 208, 304, 144


class Model(nn.Module):
    def forward(self, a, b):
        return torch.matmul(a, b)


def get_inputs():
    return [torch.randn(M, K).bfloat16(), torch.randn(K, N).bfloat16()]


def get_init_inputs():
    return []
