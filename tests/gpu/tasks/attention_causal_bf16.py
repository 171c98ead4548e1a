"""Causal attention in bfloat16."""
import torch
import torch.nn as nn

BATCH, HEADS, SHARED, LENGTH, WIDTH = 2, 4, 4, 200, 64


class Model(nn.Module):
    def forward(self, q, k, v):
        return nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)


def get_inputs():
    q = torch.randn(BATCH, HEADS, LENGTH, WIDTH).bfloat16()
    k = torch.randn(BATCH, SHARED, LENGTH, WIDTH).bfloat16()
    return [q, k, torch.randn(BATCH, SHARED, LENGTH, WIDTH).bfloat16()]


def get_init_inputs():
    return []
