"""The PyTorch side of pragma: describes tasks, computes references, and times eager and compile.

docs/torch-protocol.md tells the messages; src/task/ holds the client. No policy lives here: pragma
owns seeds, memory and the clock, and decides everything.
"""
