"""The networks that vision and gpt train, as one writes them in Python."""

import math

import torch
from torch import nn
from torch.nn import functional


class Block(nn.Module):
    """Two 3x3 convolutions (expansion 1), or a 3x3 between two 1x1 (expansion 4), and a shortcut."""

    def __init__(self, channels_in, channels, stride, expansion):
        super().__init__()
        channels_out = channels * expansion
        kernels = [(channels_in, channels, 3, stride), (channels, channels, 3, 1)]
        if expansion == 4:
            kernels = [(channels_in, channels, 1, 1), (channels, channels, 3, stride),
                       (channels, channels_out, 1, 1)]
        layers = []
        for before, after, size, step in kernels:
            layers += [nn.Conv2d(before, after, size, step, size // 2, bias=False),
                       nn.BatchNorm2d(after), nn.ReLU(inplace=True)]
        self.layers = nn.Sequential(*layers[:-1])
        self.shortcut = nn.Identity()
        if stride != 1 or channels_in != channels_out:
            self.shortcut = nn.Sequential(
                nn.Conv2d(channels_in, channels_out, 1, stride, bias=False),
                nn.BatchNorm2d(channels_out))

    def forward(self, x):
        return functional.relu(self.layers(x) + self.shortcut(x), inplace=True)


class ResNet(nn.Module):
    """He et al., arXiv:1512.03385, table 1; the stride of a bottleneck is on its 3x3."""

    def __init__(self, blocks, expansion, classes=1000):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64),
                                  nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1))
        stages, before = [], 64
        for stage, count in enumerate(blocks):
            for number in range(count):
                stride = 2 if stage > 0 and number == 0 else 1
                stages.append(Block(before, 64 << stage, stride, expansion))
                before = (64 << stage) * expansion
        self.blocks = nn.Sequential(*stages)
        self.classify = nn.Linear(before, classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, images):
        return self.classify(self.blocks(self.stem(images)).mean((2, 3)))


class Layer(nn.Module):
    """Attention and MLP, each behind a normalisation and around which x passes unchanged."""

    def __init__(self, hidden, heads, fused):
        super().__init__()
        self.heads = heads
        self.fused = fused
        self.attention_norm = nn.LayerNorm(hidden)
        self.queries_keys_values = nn.Linear(hidden, 3 * hidden)
        self.projection = nn.Linear(hidden, hidden)
        self.mlp_norm = nn.LayerNorm(hidden)
        self.widen = nn.Linear(hidden, 4 * hidden)
        self.narrow = nn.Linear(4 * hidden, hidden)

    def attend(self, x, later):
        batch, sequence, hidden = x.shape
        q, k, v = (t.view(batch, sequence, self.heads, hidden // self.heads).transpose(1, 2)
                   for t in self.queries_keys_values(x).split(hidden, dim=2))
        if self.fused:
            mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            scores = q @ k.transpose(2, 3) / math.sqrt(q.size(3))
            mixed = scores.masked_fill(later, -math.inf).softmax(3) @ v
        return self.projection(mixed.transpose(1, 2).reshape(x.shape))

    def forward(self, x, later):
        x = x + self.attend(self.attention_norm(x), later)
        return x + self.narrow(functional.gelu(self.widen(self.mlp_norm(x))))


class Gpt(nn.Module):
    """Learned positions, output weights tied to the embedding. Fused attention is that of PyTorch 2."""

    def __init__(self, layers, hidden, heads, sequence, vocabulary, deviation, fused=False):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, hidden)
        self.positions = nn.Embedding(sequence, hidden)
        self.layers = nn.ModuleList(Layer(hidden, heads, fused) for _ in range(layers))
        self.norm = nn.LayerNorm(hidden)
        self.register_buffer("later", torch.ones(sequence, sequence, dtype=torch.bool).triu(1))
        for name, parameter in self.named_parameters():
            if parameter.dim() == 2:
                last = name.endswith(("projection.weight", "narrow.weight"))
                nn.init.normal_(parameter, 0, deviation / math.sqrt(2 * layers) if last else deviation)
            elif name.endswith("bias"):
                nn.init.zeros_(parameter)

    def forward(self, tokens):
        x = self.embedding(tokens) + self.positions.weight
        for layer in self.layers:
            x = layer(x, self.later)
        return self.norm(x) @ self.embedding.weight.T
