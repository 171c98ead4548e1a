"""A block of EfficientNet-B0 (depthwise 5 x 5, squeeze and excitation): 40 channels of 28 x 28, 16 images."""
import torch
from torch import nn
from transformers import EfficientNetConfig, EfficientNetModel


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        config = EfficientNetConfig(width_coefficient=1.0, depth_coefficient=1.0, image_size=224, initializer_range=0.5)
        self.block = EfficientNetModel(config).encoder.blocks[4]
        self.eval()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.block(x)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(16, 40, 28, 28)]


def get_init_inputs() -> list:
    return []
