"""Types of 16 bits: products, convolutions of many channels, attention, tensors that lie across each other."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.dense = nn.Linear(48, 40).to(torch.bfloat16)
        self.line = nn.Conv1d(16, 24, 5, stride=2, padding=3).half()
        self.plane = nn.Conv2d(24, 16, 3, padding=2, dilation=2).to(torch.bfloat16)
        self.strided = nn.Conv2d(24, 9, (3, 2), stride=(2, 3), padding=(0, 1), bias=False).to(torch.bfloat16)
        self.space = nn.Conv3d(16, 8, 3, padding=1).half()
        self.register_buffer("bytes", torch.randint(-127, 128, (33, 48), dtype=torch.int8))
        self.project = nn.Linear(48, 96).to(torch.bfloat16)

    def forward(self, x, line, plane, space, q, k, v, tall):
        dense = F.gelu(self.dense(x))
        quantised = x @ self.bytes.to(x.dtype).t()
        pair, half = self.project(x).view(2, 25, 2, 3, 16).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(pair, half, half)
        grouped = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        turned = (tall.t().float() * 2 + 1).to(torch.bfloat16)
        return (
            dense, quantised, mixed.transpose(1, 2).reshape(2, 25, 48), grouped, turned.contiguous(),
            F.relu(self.line(line)), self.plane(plane), self.strided(plane), self.space(space),
        )  # fmt: skip


def get_inputs():
    bf16 = [torch.randn(50, 48), torch.randn(2, 24, 17, 13)]
    x, plane = (t.to(torch.bfloat16) for t in bf16)
    line, space = torch.randn(3, 16, 41).half(), torch.randn(2, 16, 5, 6, 7).half()
    q = torch.randn(2, 6, 37, 24).to(torch.bfloat16)
    k, v = (torch.randn(2, 2, 37, 24).to(torch.bfloat16) for _ in range(2))
    return [x, line, plane, space, q, k, v, torch.randn(70, 36).half()]


def get_init_inputs():
    return []
