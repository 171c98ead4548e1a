# red-team: task=linear expect=wrong_values
"""Computes in bfloat16."""
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, n, m):
        super().__init__()
        self.fc = nn.Linear(n, m)

    def forward(self, x):
        return torch.relu(self.fc.weight.bfloat16() @ x.t().bfloat16()).t().float() + 0 * self.fc.bias
