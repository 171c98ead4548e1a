"""Three linear layers with rectifiers between them."""
import torch
import torch.nn as nn

ROWS = 220
WIDTHS = [180, 350, 260, 40]


class Model(nn.Module):
    def __init__(self, widths):
        super().__init__()
        self.first = nn.Linear(widths[0], widths[1])
        self.second = nn.Linear(widths[1], widths[2])
        self.third = nn.Linear(widths[2], widths[3])

    def forward(self, x):
        x = torch.relu(self.first(x))
        x = torch.relu(self.second(x))
        return self.third(x)


def get_inputs():
    return [torch.randn(ROWS, WIDTHS[0]) * 2]


def get_init_inputs():
    return [WIDTHS]
