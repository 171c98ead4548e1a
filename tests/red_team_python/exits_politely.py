# red-team: task=linear expect=crashed run-limit=10s no-timing
"""SystemExit is not a success either."""
import sys

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, n, m):
        super().__init__()
        self.fc = nn.Linear(n, m)

    def forward(self, x):
        sys.exit(0)
