"""ConvNeXt tiny in bfloat16 (depths 3, 3, 9, 3; 96 to 768 channels), head of 1000 classes, 64 images of 224 x 224.

The layer scale is 1, not the initial 1e-6: with that the blocks of an untrained model add nothing.
"""

import torch
from transformers import AutoModelForImageClassification, ConvNextConfig

CONFIG = ConvNextConfig(num_labels=1000, layer_scale_init_value=1.0)


def build() -> torch.nn.Module:
    return AutoModelForImageClassification.from_config(CONFIG, dtype=torch.bfloat16).eval()


def inputs() -> list[dict | tuple]:
    return [{"pixel_values": torch.randn(64, 3, 224, 224).to(torch.bfloat16)}]
