"""ResNet-50 (depths 3, 4, 6, 3; 256 to 2048 channels), head of 1000 classes, 4 images of 224 x 224.

The batch norms have the statistics of a batch of noise; the library's mean 0 and variance 1 hide what they do.
"""

import torch
from transformers import AutoModelForImageClassification, ResNetConfig

CONFIG = ResNetConfig(num_labels=1000)


def settle(model: torch.nn.Module) -> None:
    """Gives each batch norm the mean and variance of what it sees."""
    for module in model.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.train().momentum = 1.0
    with torch.no_grad():
        model(torch.randn(8, 3, 224, 224))
    model.eval()


def build() -> torch.nn.Module:
    model = AutoModelForImageClassification.from_config(CONFIG, dtype=torch.float32).eval()
    settle(model)
    return model


def inputs() -> list[dict | tuple]:
    return [{"pixel_values": torch.randn(4, 3, 224, 224)}]
