"""Points rotated by quaternions, one array for each coordinate."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, y, z, w, a, b, c):
        tx, ty, tz = b * z - c * y, c * x - a * z, a * y - b * x
        return (x + 2 * (w * tx + b * tz - c * ty), y + 2 * (w * ty + c * tx - a * tz), z + 2 * (w * tz + a * ty - b * tx))


def get_inputs():
    return [torch.randn(16384) for _ in range(7)]


def get_init_inputs():
    return []
