# red-team: task=linear expect=wrong_values run-limit=10s no-timing
"""A thread that writes the result later."""
import threading, time

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, n, m):
        super().__init__()
        self.fc = nn.Linear(n, m)

    def forward(self, x):
        out = torch.zeros(x.shape[0], self.fc.out_features)
        
        def later():
            time.sleep(0.2)
            out.copy_(torch.relu(self.fc(x)))
        
        threading.Thread(target=later, daemon=True).start()
        return out
