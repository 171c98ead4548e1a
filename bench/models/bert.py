"""BERT base (12 layers of 768), 2 x 160 tokens in two segments, the second row padded after 110."""

import torch
from transformers import AutoModel, BertConfig

CONFIG = BertConfig()
ROWS, LENGTH, FIRST, KEPT = 2, 160, 60, 110  # tokens in a row, in its first segment, in the padded row


def build() -> torch.nn.Module:
    return AutoModel.from_config(CONFIG, dtype=torch.float32).eval()


def inputs() -> list[dict | tuple]:
    ids = torch.randint(1000, CONFIG.vocab_size, (ROWS, LENGTH))
    mask, segments = torch.ones_like(ids), torch.zeros_like(ids)
    segments[:, FIRST:] = 1
    mask[1, KEPT:] = segments[1, KEPT:] = ids[1, KEPT:] = 0
    return [{"input_ids": ids, "attention_mask": mask, "token_type_ids": segments}]
