"""Attention with every kind of mask, with groups of queries that share keys, and written out by hand over views of one projection."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F


def twice(heads):
    """Repeats each head, as models do that know no grouped queries."""
    rows, count, length, width = heads.shape
    return heads[:, :, None].expand(rows, count, 2, length, width).reshape(rows, 2 * count, length, width)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.project = nn.Linear(48, 144)
        self.register_buffer("slope", torch.linspace(-1, 1, 6).view(6, 1, 1))
        self.register_buffer("below", torch.tril(torch.ones(70, 70)).view(1, 1, 70, 70))

    def forward(self, q, k, v, x, mask):
        seen = mask > -0.5
        parts = self.project(x).split(48, dim=2)
        heads = [part.view(2, 70, 2, 24).transpose(1, 2) for part in parts]
        scores = heads[0] @ heads[1].transpose(-2, -1) * (1 / math.sqrt(24))
        scores = scores.masked_fill(self.below == 0, float("-inf"))
        by_hand = F.softmax(scores, dim=-1) @ heads[2]
        return (
            F.scaled_dot_product_attention(q, k, v),
            F.gelu(F.scaled_dot_product_attention(q, k, v, attn_mask=mask)),
            F.scaled_dot_product_attention(q, k, v, attn_mask=seen, scale=0.3).transpose(1, 2).reshape(2, 70, -1),
            F.scaled_dot_product_attention(heads[0], heads[1], heads[2], is_causal=True),
            by_hand.transpose(1, 2).contiguous().view(2, 70, 48),
            F.scaled_dot_product_attention(q.repeat(1, 2, 1, 1), k, v, attn_mask=seen, enable_gqa=True),
            F.scaled_dot_product_attention(q.repeat(1, 2, 1, 1), twice(k), twice(v), attn_mask=seen),
            F.scaled_dot_product_attention(q.repeat(1, 2, 1, 1), k, v, attn_mask=mask.expand(2, 6, 70, 301) + self.slope, enable_gqa=True),
        )


def get_inputs():
    return [
        torch.randn(2, 3, 70, 24),
        torch.randn(2, 3, 301, 24),
        torch.randn(2, 3, 301, 37),
        torch.randn(2, 70, 48),
        torch.randn(2, 1, 70, 301),
    ]


def get_init_inputs():
    return []
