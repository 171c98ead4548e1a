"""T5 base's encoder (12 layers of 768, MLP 3072), 2 x 160 tokens, the second row padded after 120."""

import torch
from transformers import T5Config, T5EncoderModel

CONFIG = T5Config(d_model=768, d_kv=64, d_ff=3072, num_layers=12, num_heads=12)
ROWS, LENGTH, KEPT = 2, 160, 120


def build() -> torch.nn.Module:
    return T5EncoderModel(CONFIG).eval()


def inputs() -> list[dict | tuple]:
    ids = torch.randint(3, CONFIG.vocab_size, (ROWS, LENGTH))
    mask = torch.ones_like(ids)
    mask[1, KEPT:] = ids[1, KEPT:] = 0
    return [{"input_ids": ids, "attention_mask": mask}]
