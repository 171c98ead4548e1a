"""Attention in bfloat16 in which four heads share one of the keys."""
import torch
import torch.nn as nn

BATCH, HEADS, SHARED, LENGTH, WIDTH = 2, 4, 1, 200, 64


class Model(nn.Module):
    def forward(self, q, k, v):
        return nn.functional.scaled_dot_product_attention(q, k, v, enable_gqa=True)


def get_inputs():
    q = torch.randn(BATCH, HEADS, LENGTH, WIDTH).bfloat16()
    k = torch.randn(BATCH, SHARED, LENGTH, WIDTH).bfloat16()
    return [q, k, torch.randn(BATCH, SHARED, LENGTH, WIDTH).bfloat16()]


def get_init_inputs():
    return []
