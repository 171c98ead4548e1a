"""SegFormer-B1 (depths 2, 2, 2, 2; 64 to 512 channels) for segmentation into 150 classes, 4 images of 224 x 224."""

import torch
from transformers import AutoModelForSemanticSegmentation, SegformerConfig

CONFIG = SegformerConfig(hidden_sizes=(64, 128, 320, 512), num_labels=150)


def build() -> torch.nn.Module:
    return AutoModelForSemanticSegmentation.from_config(CONFIG, dtype=torch.float32).eval()


def inputs() -> list[dict | tuple]:
    return [{"pixel_values": torch.randn(4, 3, 224, 224)}]
