"""EfficientNet-B0 (16 blocks, 32 to 1280 channels), head of 1000 classes, 8 images of 224 x 224.

The batch norms have the statistics of a batch of noise; the library's mean 0 and variance 1 hide what they do.
Convolutions are drawn by Kaiming's rule and norms scale by 1; of the library's 0.02 the output would be zero.
"""

import torch
from transformers import AutoModelForImageClassification, EfficientNetConfig

CONFIG = EfficientNetConfig(
    image_size=224, width_coefficient=1.0, depth_coefficient=1.0, hidden_dim=1280, dropout_rate=0.2, num_labels=1000
)


def settle(model: torch.nn.Module) -> None:
    """Gives each batch norm the mean and variance of what it sees."""
    for module in model.modules():
        if isinstance(module, torch.nn.Conv2d):
            torch.nn.init.kaiming_normal_(module.weight)
        if isinstance(module, torch.nn.BatchNorm2d):
            torch.nn.init.ones_(module.weight)
            module.train().momentum = 1.0
    with torch.no_grad():
        model(torch.randn(8, 3, 224, 224))
    model.eval()


def build() -> torch.nn.Module:
    model = AutoModelForImageClassification.from_config(CONFIG, dtype=torch.float32).eval()
    settle(model)
    return model


def inputs() -> list[dict | tuple]:
    return [{"pixel_values": torch.randn(8, 3, 224, 224)}]
