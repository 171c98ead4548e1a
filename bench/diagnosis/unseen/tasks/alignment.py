"""The cost of the best alignment (dynamic time warping) of each of sixteen pairs of sequences."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, a, b):
        pairs, n = a.shape
        far = torch.full((pairs, n + 1), float("inf"), dtype=a.dtype, device=a.device)
        before, last = far, far
        back = b.flip(1)
        for d in range(2 * n - 1):  # entry i + 1 of a diagonal belongs to row i, column d - i
            low, high = max(0, d - n + 1), min(n, d + 1)
            cost = (a[:, low:high] - back[:, n - 1 - d + low:n - 1 - d + high]).abs()
            if d == 0:
                best = torch.zeros_like(cost)
            else:
                best = torch.minimum(torch.minimum(last[:, low:high], last[:, low + 1:high + 1]), before[:, low:high])
            new = torch.cat([far[:, :low + 1], cost + best, far[:, high + 1:]], 1)
            before, last = last, new
        return last[:, n]


def get_inputs():
    return [torch.randn(16, 128), torch.randn(16, 128)]


def get_init_inputs():
    return []
