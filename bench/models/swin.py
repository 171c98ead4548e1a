"""Swin tiny (depths 2, 2, 6, 2; 96 to 768 channels; windows of 7), head of 1000 classes, 4 images of 224 x 224."""

import torch
from transformers import AutoModelForImageClassification, SwinConfig

CONFIG = SwinConfig(num_labels=1000)


def build() -> torch.nn.Module:
    return AutoModelForImageClassification.from_config(CONFIG, dtype=torch.float32).eval()


def inputs() -> list[dict | tuple]:
    return [{"pixel_values": torch.randn(4, 3, 224, 224)}]
