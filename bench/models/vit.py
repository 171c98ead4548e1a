"""ViT base, patches of 16 (12 layers of 768), with a head of 1000 classes, 2 images of 224 x 224 (197 positions)."""

import torch
from transformers import AutoModelForImageClassification, ViTConfig

CONFIG = ViTConfig(num_labels=1000)


def build() -> torch.nn.Module:
    return AutoModelForImageClassification.from_config(CONFIG, dtype=torch.float32).eval()


def inputs() -> list[dict | tuple]:
    return [{"pixel_values": torch.randn(2, 3, 224, 224)}]
