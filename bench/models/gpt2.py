"""GPT-2 small (12 layers of 768, 50257 tokens) with its language head, 1 x 256 tokens."""

import torch
from transformers import AutoModelForCausalLM, GPT2Config

CONFIG = GPT2Config()


def build() -> torch.nn.Module:
    return AutoModelForCausalLM.from_config(CONFIG, dtype=torch.float32).eval()


def inputs() -> list[dict | tuple]:
    ids = torch.randint(0, CONFIG.vocab_size, (1, 256))
    return [{"input_ids": ids, "attention_mask": torch.ones_like(ids)}]
