"""For each number how many are smaller: integers only, and more work than data."""
import torch
import torch.nn as nn

class Model(nn.Module):
    def forward(self, x):
        return (x.unsqueeze(0) < x.unsqueeze(1)).sum(dim=1)


def get_inputs():
    return [torch.randint(0, 100000, (700,))]


def get_init_inputs():
    return []
