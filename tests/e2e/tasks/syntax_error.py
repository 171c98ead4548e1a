import torch

class Model(:
    pass
