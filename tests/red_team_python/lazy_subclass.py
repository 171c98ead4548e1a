# red-team: task=linear expect=wrong_shape run-limit=10s no-timing
"""A tensor that computes when it is compared."""
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, n, m):
        super().__init__()
        self.fc = nn.Linear(n, m)

    def forward(self, x):
        class Lazy(torch.Tensor):
            def __eq__(self, other):
                return torch.ones_like(other, dtype=torch.bool)
        
        return torch.empty(x.shape[0], self.fc.out_features).as_subclass(Lazy)
