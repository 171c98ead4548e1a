"""CLIP ViT-B/16 whole (text 12 x 512, image 12 x 768), 2 texts of 128 tokens against one image of 224 x 224.

The text side has Long-CLIP's 248 positions; CLIP's own 77 are too few for 128 tokens.
"""

import torch
from transformers import AutoModel, CLIPConfig

CONFIG = CLIPConfig(text_config={"max_position_embeddings": 248}, vision_config={"patch_size": 16}, projection_dim=512)
TEXTS, LENGTH, BEGIN, END = 2, 128, 49406, 49407


def build() -> torch.nn.Module:
    return AutoModel.from_config(CONFIG, dtype=torch.float32).eval()


def inputs() -> list[dict | tuple]:
    ids = torch.randint(0, BEGIN, (TEXTS, LENGTH))
    mask = torch.ones_like(ids)
    ids[:, 0] = BEGIN
    for row, length in enumerate((LENGTH, 90)):  # CLIP pads with its end token
        ids[row, length - 1 :] = END
        mask[row, length:] = 0
    return [{"input_ids": ids, "attention_mask": mask, "pixel_values": torch.randn(1, 3, 224, 224)}]
