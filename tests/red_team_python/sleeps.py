# red-team: task=linear expect=timeout run-limit=10s no-timing
"""Never comes back."""
import time

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, n, m):
        super().__init__()
        self.fc = nn.Linear(n, m)

    def forward(self, x):
        time.sleep(10000)
