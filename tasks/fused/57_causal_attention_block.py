"""Causal self-attention with its projections and a residual."""
import torch
import torch.nn as nn

BATCH, TOKENS, WIDTH = 3, 110, 96
HEADS = 4


class Model(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.project = nn.Linear(width, width)
        nn.init.normal_(self.qkv.weight, std=1.5 / width**0.5)

    def forward(self, x):
        batch, tokens, width = x.shape
        split = self.qkv(x).view(batch, tokens, 3, self.heads, width // self.heads)
        query, key, value = split.permute(2, 0, 3, 1, 4)
        attended = nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        merged = attended.transpose(1, 2).reshape(batch, tokens, width)
        return x + self.project(merged)


def get_inputs():
    return [torch.randn(BATCH, TOKENS, WIDTH)]


def get_init_inputs():
    return [WIDTH, HEADS]
