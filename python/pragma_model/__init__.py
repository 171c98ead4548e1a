"""The jailed Python side of `pragma model`: finds the parts of a user's model, packs kernels, proves the result."""
