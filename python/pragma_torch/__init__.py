"""The PyTorch side of pragma: describes tasks, computes references, and times eager and torch.compile.

docs/torch-protocol.md describes the messages, and src/task/ holds the client. This package makes no decisions: pragma
owns seeds, memory and the clock, and decides everything.
"""
