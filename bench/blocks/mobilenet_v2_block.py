"""An inverted residual of MobileNetV2: 24 channels of 56 x 56, 144 inside, 8 images."""
import torch
from torch import nn
from transformers import MobileNetV2Config, MobileNetV2Model


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.block = MobileNetV2Model(MobileNetV2Config(initializer_range=0.2)).layer[1]
        self.eval()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.block(x)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(8, 24, 56, 56)]


def get_init_inputs() -> list:
    return []
