"""ViT base in bfloat16, patches of 16 (12 layers of 768), with a head of 1000 classes, 64 images of 224 x 224."""

import torch
from transformers import AutoModelForImageClassification, ViTConfig

CONFIG = ViTConfig(num_labels=1000)


def build() -> torch.nn.Module:
    return AutoModelForImageClassification.from_config(CONFIG, dtype=torch.bfloat16).eval()


def inputs() -> list[dict | tuple]:
    return [{"pixel_values": torch.randn(64, 3, 224, 224).to(torch.bfloat16)}]
