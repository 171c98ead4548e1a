# red-team: task=linear expect=wrong_values run-limit=10s no-timing
"""Computes in bfloat16."""
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, n, m):
        super().__init__()
        self.fc = nn.Linear(n, m)

    def forward(self, x):
        product = x.bfloat16() @ self.fc.weight.bfloat16().t()
        return torch.relu(product.float() + self.fc.bias)
