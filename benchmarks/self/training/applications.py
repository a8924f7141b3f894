"""The networks of ap1 to ap6, atmorep, cosmoflow and deepcam, as one writes them in Python.

Each class has `batch(size)`, which makes inputs, `loss(batch)` and `optimizers(tuned)`. A network that
trains in several phases has a `step` of its own.
"""

import math

import torch
from torch import nn
from torch.nn import functional

import networks


def trainable(module):
    return [p for p in module.parameters() if p.requires_grad]


# AP1


def plain_norm(channels):
    """Without factor and shift, as Keras's with center=False, scale=False."""
    return nn.BatchNorm2d(channels, eps=1e-3, momentum=0.01, affine=False)


def unet_block(before, after):
    return nn.Sequential(nn.Conv2d(before, after, 1), plain_norm(after), nn.ReLU(),
                         nn.Conv2d(after, after, 1), plain_norm(after), nn.ReLU())


class UnetDecoder(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.reduce = nn.Conv2d(2 * channels, channels, 1)
        self.smooth = nn.Conv2d(channels, channels, 2)
        self.block = unet_block(2 * channels, channels)

    def forward(self, x, kept):
        x = functional.interpolate(functional.relu(self.reduce(x)), scale_factor=2)
        x = functional.relu(self.smooth(functional.pad(x, (0, 1, 0, 1))))
        return self.block(torch.cat([kept, x], 1))


class Ap1(nn.Module):
    def __init__(self):
        super().__init__()
        widths = [16, 32, 64, 128, 256]
        self.encoder = nn.ModuleList(unet_block(before, after)
                                     for before, after in zip([17] + widths, widths))
        self.bottom = unet_block(256, 512)
        self.decoder = nn.ModuleList(UnetDecoder(width) for width in reversed(widths))
        self.head = nn.Conv2d(16, 3, 1)

    def forward(self, x):
        kept = []
        for block in self.encoder:
            kept.append(block(x))
            x = functional.max_pool2d(kept[-1], 2)
        x = self.bottom(x)
        for block in self.decoder:
            x = block(x, kept.pop())
        return self.head(x)

    def batch(self, size):
        return torch.rand(size, 17, 256, 256), torch.rand(size, 1, 256, 256)

    def loss(self, batch):
        x, y = batch
        error = y - self(x)
        quantiles = torch.tensor([0.1, 0.5, 0.9]).view(3, 1, 1)
        return torch.maximum(quantiles * error, (quantiles - 1) * error).mean()

    def optimizers(self, tuned):
        return [torch.optim.Adam(trainable(self), lr=1e-3, foreach=tuned or None)]


# AP2


def bucket(distance):
    if abs(distance) <= 128:
        return distance
    size = math.ceil(math.log(abs(distance) / 128) / math.log(511 / 128) * 127) + 128
    return size if distance > 0 else -size


class DebertaLayer(nn.Module):
    def __init__(self, hidden=768, heads=12, dropout=0.1):
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.query, self.key, self.value, self.output = (nn.Linear(hidden, hidden) for _ in range(4))
        self.widen, self.narrow = nn.Linear(hidden, 4 * hidden), nn.Linear(4 * hidden, hidden)
        self.attention_norm, self.norm = (nn.LayerNorm(hidden, eps=1e-7) for _ in range(2))

    def split(self, x):
        return x.unflatten(-1, (self.heads, -1)).transpose(-2, -3)

    def forward(self, x, keep, relative, rows):
        drop = lambda t: functional.dropout(t, self.dropout, self.training)
        q, k, v = (self.split(part(x)) for part in (self.query, self.key, self.value))
        place_q, place_k = self.split(self.query(relative)), self.split(self.key(relative))
        to_key = (q @ place_k.transpose(-1, -2)).gather(-1, rows.expand(*q.shape[:2], -1, -1))
        to_query = (k @ place_q.transpose(-1, -2)).gather(-1, rows.T.expand(*q.shape[:2], -1, -1))
        scores = (q @ k.transpose(-1, -2) + to_key + to_query.transpose(-1, -2)) / math.sqrt(3 * q.shape[-1])
        weights = drop(scores.masked_fill(~keep[:, None, None], -torch.inf).softmax(-1))
        mixed = (weights @ v).transpose(1, 2).flatten(2)
        x = self.attention_norm(x + drop(self.output(mixed)))
        return self.norm(x + drop(self.narrow(functional.gelu(self.widen(x)))))


class Ap2(nn.Module):
    def __init__(self, vocabulary=128100, hidden=768, layers=6, sequence=64):
        super().__init__()
        self.vocabulary, self.sequence = vocabulary, sequence
        self.words = nn.Embedding(vocabulary, hidden)
        self.words_norm, self.relative_norm = (nn.LayerNorm(hidden, eps=1e-7) for _ in range(2))
        self.relative = nn.Parameter(torch.empty(512, hidden))
        self.layers = nn.ModuleList(DebertaLayer(hidden) for _ in range(layers))
        self.pooler, self.classifier = nn.Linear(hidden, hidden), nn.Linear(hidden, 2)
        for weight in self.parameters():
            if weight.dim() > 1:
                nn.init.normal_(weight, std=0.02)
        self.register_buffer("rows", torch.tensor(
            [[min(max(bucket(i - j) + 256, 0), 511) for j in range(sequence)] for i in range(sequence)]))

    def forward(self, tokens):
        keep = tokens != 0
        x = functional.dropout(self.words_norm(self.words(tokens)) * keep[:, :, None], 0.1, self.training)
        relative = self.relative_norm(self.relative)
        for layer in self.layers:
            x = layer(x, keep, relative, self.rows)
        first = functional.gelu(self.pooler(functional.dropout(x[:, 0], 0.1, self.training)))
        return self.classifier(functional.dropout(first, 0.1, self.training))

    def batch(self, size):
        tokens = torch.randint(1, self.vocabulary, (size, self.sequence))
        lengths = torch.randint(8, self.sequence + 1, (size, 1))
        return tokens * (torch.arange(self.sequence) < lengths), torch.randint(2, (size,))

    def loss(self, batch):
        tokens, labels = batch
        return functional.cross_entropy(self(tokens), labels)

    def optimizers(self, tuned):
        matrices = [p for p in self.parameters() if p.dim() >= 2]
        others = [p for p in self.parameters() if p.dim() < 2]
        return [torch.optim.AdamW([{"params": matrices, "weight_decay": 0.01},
                                   {"params": others, "weight_decay": 0.0}], lr=3e-5, foreach=tuned or None)]

    clip_norm = 1.0


# AP3

HEATING = 9.80665 / 1004 * 86400


def columns(size):
    pressure = torch.linspace(1.0, 101325.0, 138).repeat(size, 1)[:, :, None]
    half_levels = torch.cat([pressure, 200 + 100 * torch.rand(size, 138, 1)], 2)
    return {"sca": 0.1 + torch.rand(size, 17), "col": torch.rand(size, 137, 27), "hl": half_levels,
            "inter": torch.rand(size, 136, 1), "pressure": pressure,
            "sw": 1 + torch.rand(size, 138, 2), "rate": torch.rand(size, 137, 1)}


def incoming(x):
    return (x["sca"][:, 1] * x["sca"][:, 16])[:, None]


class Ap3(nn.Module):
    def batch(self, size):
        return columns(size)

    def optimizers(self, tuned):
        return [torch.optim.Adam(trainable(self), lr=1e-4, foreach=tuned or None)]


class Ap3Cnn(Ap3):
    def __init__(self):
        super().__init__()
        dilations = (1, 2, 4, 8, 16, 1, 1, 1, 1, 1, 1)
        layers = []
        for i, dilation in enumerate(dilations):
            layers += [nn.Conv1d(64 if i else 47, 64, 5, padding=2 * dilation, dilation=dilation), nn.SiLU()]
        self.layers = nn.Sequential(*layers)
        self.rate = nn.Conv1d(64, 1, 5, padding=2)
        self.features = nn.Conv1d(64, 8, 5, padding=2)
        self.dense = nn.Sequential(nn.Linear(1121, 32), nn.SiLU(), nn.Linear(32, 32), nn.SiLU(),
                                   nn.Linear(32, 32), nn.SiLU(), nn.Linear(32, 2), nn.Sigmoid())

    def loss(self, x):
        features = torch.cat([x["sca"][:, None].expand(-1, 138, -1), functional.pad(x["col"], (0, 0, 1, 0)),
                              x["hl"] * 1e-5, functional.pad(x["inter"], (0, 0, 1, 1))], 2).transpose(1, 2)
        found = self.layers(features)
        rate = self.rate(found)[:, 0, :137]
        flux = functional.silu(self.features(found)).transpose(1, 2).flatten(1)
        down, up = (self.dense(torch.cat([flux, x["sca"]], 1)) * incoming(x)).unbind(1)
        thickness = x["pressure"][:, 1:, 0] - x["pressure"][:, :-1, 0]
        top = down - up + (rate * thickness).sum(1) / HEATING
        target = torch.stack([x["sw"][:, 0, 0] - x["sw"][:, 0, 1], x["sw"][:, -1, 0], x["sw"][:, -1, 1]], 1)
        return (1000 * functional.mse_loss(rate[:, :, None], x["rate"])
                + functional.mse_loss(torch.stack([top, down, up], 1), target))


class Ap3Lstm(Ap3):
    def __init__(self):
        super().__init__()
        self.down, self.up, self.again = (nn.LSTM(size, 64, batch_first=True) for size in (28, 65, 129))
        for layer in (self.down, self.up, self.again):  # one bias, as in Keras
            layer.bias_hh_l0.requires_grad_(False).zero_()
        self.surface_output, self.surface_cell = nn.Linear(140, 64), nn.Linear(140, 64)
        self.fluxes = nn.Linear(64, 2)
        self.seen = [i for i in range(27) if i not in (5, 8, 9)]

    def loss(self, x):
        middle = (x["hl"][:, 1:] + x["hl"][:, :-1]) / 2
        features = torch.cat([x["col"][:, :, self.seen], x["sca"][:, None, 1:2].expand(-1, 137, -1),
                              torch.log(middle[:, :, :1]) * 0.0867, middle[:, :, 1:] * 0.0031765,
                              (x["hl"][:, 1:, :1] - x["hl"][:, :-1, :1]) * 0.0004561], 2)
        down, (hidden, cell) = self.down(features)
        surface = torch.cat([hidden[0], cell[0], x["sca"][:, 2:14]], 1)
        hidden, cell = self.surface_output(surface), self.surface_cell(surface)
        levels = torch.cat([torch.cat([down, hidden[:, None]], 1), functional.pad(x["inter"], (0, 0, 1, 1))], 2)
        up, _ = self.up(levels.flip(1), (hidden[None], cell[None]))
        last, _ = self.again(torch.cat([levels, up.flip(1)], 2))
        fluxes = torch.sigmoid(self.fluxes(last)) * incoming(x)[:, None]
        net = fluxes[:, :, 0] - fluxes[:, :, 1]
        pressure = x["pressure"][:, :, 0]
        rate = HEATING * (net[:, :-1] - net[:, 1:]) / (pressure[:, 1:] - pressure[:, :-1])
        top = x["sw"][:, :1, :1]
        return 0.1 * functional.l1_loss(rate[:, :, None], x["rate"]) + functional.l1_loss(fluxes / top, x["sw"] / top)


# AP4


def norm_block(before, middle, after):
    return nn.Sequential(nn.Conv2d(before, middle, 3, padding=1), nn.BatchNorm2d(middle), nn.ReLU(),
                         nn.Conv2d(middle, after, 3, padding=1), nn.BatchNorm2d(after), nn.ReLU())


def enlarged(x, height):
    x = functional.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)
    return functional.pad(x, (0, 0, height - x.shape[2], 0), mode="replicate")


class Ap4(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.ModuleList([norm_block(14, 32, 32), norm_block(32, 64, 64), norm_block(64, 128, 128)])
        self.decoder = nn.ModuleList([norm_block(64, 32, 32), norm_block(128, 64, 32), norm_block(128, 128, 64)])
        self.head = nn.Conv2d(32, 2, 3, padding=1)

    def forward(self, x):
        full = self.encoder[0](x)
        half = self.encoder[1](functional.max_pool2d(full, 2))
        x = self.decoder[2](self.encoder[2](functional.max_pool2d(half, 2)))
        x = self.decoder[1](torch.cat([half, enlarged(x, half.shape[2])], 1))
        return self.head(self.decoder[0](torch.cat([full, enlarged(x, full.shape[2])], 1)))

    def batch(self, size):
        shape = (361, 720)
        return torch.randn(size, 14, *shape), 1 + torch.rand(size, 2, *shape), torch.rand(size, *shape)

    def loss(self, batch):
        x, scale, target = batch
        output = self(x)
        mu = output[:, 0] * scale[:, 1] + scale[:, 0]
        sigma = torch.exp(output[:, 1]) * scale[:, 1]
        z = (mu - target) / sigma
        density = torch.exp(-z * z / 2) / math.sqrt(2 * math.pi)
        return (sigma * (z * torch.erf(z / math.sqrt(2)) + 2 * density - 1 / math.sqrt(math.pi))).mean()

    def optimizers(self, tuned):
        return [torch.optim.Adam(trainable(self), lr=1e-2, foreach=tuned or None)]


# AP5


class Swish(nn.Module):
    """A convolution, its normalisation and swish."""

    def __init__(self, before, after, stride=1):
        super().__init__()
        self.convolution = nn.Conv2d(before, after, 3, stride)
        self.norm = nn.BatchNorm2d(after, eps=1e-3, momentum=0.01)
        self.padding = (1, 1, 1, 1) if stride == 1 else (0, 1, 0, 1)

    def forward(self, x):
        return functional.silu(self.norm(self.convolution(functional.pad(x, self.padding))))


class Generator(nn.Module):
    widths = (56, 112, 224, 448)

    def __init__(self):
        super().__init__()
        before = (15,) + self.widths
        self.encoder = nn.ModuleList(Swish(a, b) for a, b in zip(before, self.widths))
        self.second = Swish(56, 56)
        self.enlarge = nn.ModuleList(nn.Conv2d(2 * w, 4 * w, 3, padding=1) for w in self.widths[:3])
        self.first = nn.ModuleList(Swish(2 * w, w) for w in self.widths[:3])
        self.after = nn.ModuleList(Swish(w, w) for w in self.widths[:3])
        self.temperature, self.height = nn.Conv2d(56, 1, 1), nn.Conv2d(56, 1, 1)

    def forward(self, x):
        x = self.second(self.encoder[0](x))
        kept = []
        for level in 1, 2, 3:
            kept.append(x)
            x = self.encoder[level](functional.max_pool2d(x, 2))
        for level in 2, 1, 0:
            x = functional.pixel_shuffle(functional.silu(self.enlarge[level](x)), 2)
            x = self.after[level](self.first[level](torch.cat([x, kept.pop()], 1)))
        return torch.cat([self.temperature(x), self.height(x)], 1)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        widths = (1, 64, 128, 256, 512)
        self.layers = nn.Sequential(*(Swish(a, b, 2) for a, b in zip(widths, widths[1:])))
        self.dense = nn.Sequential(nn.Linear(512, 64), nn.SiLU(), nn.Linear(64, 1))

    def forward(self, x):
        return self.dense(self.layers(x).mean((2, 3)))


class Ap5(nn.Module):
    def __init__(self):
        super().__init__()
        self.generator, self.critic = Generator(), Critic()

    def batch(self, size):
        return torch.randn(size, 15, 96, 120), torch.randn(size, 2, 96, 120)

    def optimizers(self, tuned):
        return [torch.optim.Adam(trainable(part), lr=rate, betas=(0, 0.9), foreach=tuned or None)
                for part, rate in ((self.generator, 5e-5), (self.critic, 1e-6))]

    def critic_loss(self, x, y):
        with torch.no_grad():
            generated = self.generator(x)[:, :1]
        real = y[:, :1]
        alpha = torch.rand(len(x), 1, 1, 1)
        between = (real + alpha * (generated - real)).requires_grad_()
        (gradient,) = torch.autograd.grad(self.critic(between).sum(), between, create_graph=True)
        penalty = ((gradient.square().mean((1, 2, 3)).sqrt() - 1) ** 2).mean()
        return self.critic(generated).mean() - self.critic(real).mean() + 10 * penalty

    def step(self, batch, optimizers, release):
        x, y = batch
        of_generator, of_critic = optimizers
        for _ in range(5):
            of_critic.zero_grad(**release)
            self.critic_loss(x, y).backward()
            of_critic.step()
        of_generator.zero_grad(**release)
        fine = self.generator(x)
        errors = (fine - y).abs()
        loss = 1000 * (errors[:, 0].mean() + errors[:, 1].mean()) - self.critic(fine[:, :1]).mean()
        loss.backward()
        of_generator.step()
        return loss.detach()


# AP6: both crops of a sample, in the epochs in which the prototypes do not learn


class Ap6(networks.ResNet):
    height, width = 176, 112

    def __init__(self):
        super().__init__([3, 4, 6, 3], 4)
        self.stem = nn.Sequential(nn.ConstantPad2d(1, 0.0), nn.Conv2d(25, 64, 7, 2, 2, bias=False),
                                  nn.BatchNorm2d(64), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1))
        self.classify = nn.Sequential(nn.Linear(2048, 2048), nn.BatchNorm1d(2048), nn.ReLU(inplace=True),
                                      nn.Linear(2048, 128))
        self.prototypes = nn.Parameter(functional.normalize(torch.randn(4, 40, 128), dim=2))

    def batch(self, size):
        return torch.randn(size, 2, 25, self.height, self.width), torch.randint(40, (4, size))

    def loss(self, batch):
        crops, labels = batch
        features = functional.normalize(self(crops.flatten(0, 1)), dim=1).unflatten(0, (-1, 2))
        losses = [functional.cross_entropy(features[:, crop] @ prototypes.T / 0.1, wanted)
                  for prototypes, wanted in zip(self.prototypes.detach(), labels) for crop in range(2)]
        return sum(losses) / len(losses)

    def optimizers(self, tuned):
        return [torch.optim.SGD(trainable(self), lr=0.3, momentum=0.9, weight_decay=1e-6, foreach=tuned or None)]


# AtmoRep: two fields, of which one token is masked on each level

DROPOUT = 0.05


def heads_of(x, size=64):
    return x.unflatten(-1, (-1, size)).transpose(1, 2)


def attend(queries, keys, values):
    weights = (queries @ keys.transpose(-1, -2) / math.sqrt(queries.shape[-1])).softmax(-1)
    return (weights @ values).transpose(1, 2).flatten(2)


def standard(x):
    return functional.layer_norm(x, x.shape[-1:])


class AtmoRepMlp(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.widen, self.narrow = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x):
        wide = functional.dropout(functional.gelu(self.widen(standard(x))), DROPOUT, self.training)
        return x + functional.gelu(self.narrow(wide))


class CoupledAttention(nn.Module):
    """All heads over the tokens of a field, and one over those of each other field."""

    def __init__(self, width, others):
        super().__init__()
        self.own = nn.Linear(width, 3 * width, bias=False)
        self.other_queries = nn.Linear(width, 64 * others, bias=False)
        self.other_pairs = nn.ModuleList(nn.Linear(width, 128, bias=False) for _ in range(others))
        self.output = nn.Linear(width + 64 * others, width, bias=False)

    def forward(self, tokens, others):
        pairs = torch.cat([pair(other).unflatten(-1, (2, 64)) for pair, other in zip(self.other_pairs, others)], -1)
        keys, values = pairs.unbind(-2)
        found = [torch.cat([heads_of(own), heads_of(other)], 1)
                 for own, other in zip(self.own(tokens).chunk(3, -1), (self.other_queries(tokens), keys, values))]
        return functional.dropout(self.output(attend(*found)), DROPOUT, self.training)


class DecoderAttention(nn.Module):
    """Half of the heads over the tokens of a field, half over those of a layer of its encoder."""

    def __init__(self, width):
        super().__init__()
        self.own = nn.Linear(width, 3 * width // 2, bias=False)
        self.other_queries = nn.Linear(width, width // 2, bias=False)
        self.other_pairs = nn.Linear(width, width, bias=False)
        self.query_norm, self.key_norm = nn.LayerNorm(64), nn.LayerNorm(64)
        self.output = nn.Linear(width, width, bias=False)

    def forward(self, tokens, encoded):
        others = (self.other_queries(tokens), *self.other_pairs(encoded).chunk(2, -1))
        queries, keys, values = (torch.cat([heads_of(own), heads_of(other)], 1)
                                 for own, other in zip(self.own(tokens).chunk(3, -1), others))
        found = attend(self.query_norm(queries), self.key_norm(keys), values)
        return functional.dropout(self.output(found), DROPOUT, self.training)


class AtmoRepField(nn.Module):
    """What one field has of the network."""

    def __init__(self, fields, width, layers, points, ensemble=16):
        super().__init__()
        self.embed, self.embed_info = nn.Linear(points, width - 16), nn.Linear(8, 16)
        self.encoder = nn.ModuleList(CoupledAttention(width, fields - 1) for _ in range(layers))
        self.decoder = nn.ModuleList(DecoderAttention(width) for _ in range(layers))
        self.encoder_mlp, self.decoder_mlp = (nn.ModuleList(AtmoRepMlp(width) for _ in range(layers))
                                              for _ in range(2))
        self.tail = nn.ModuleList(nn.Sequential(nn.LayerNorm(width), nn.Linear(width, points))
                                  for _ in range(ensemble))


class AtmoRep(nn.Module):
    fields, levels, level_tokens, points, width, layers = 2, 2, 12 * 3 * 6, 3 * 18 * 18, 512, 3

    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleList(AtmoRepField(self.fields, self.width, self.layers, self.points)
                                   for _ in range(self.fields))
        self.register_buffer("positions", torch.randn(self.levels * self.level_tokens, self.width))

    def forward(self, tokens, info, rows):
        x = [torch.cat([part.embed(own), part.embed_info(info)], -1) + self.positions
             for part, own in zip(self.parts, tokens)]
        kept = []
        for layer in range(self.layers):
            seen = [standard(own) for own in x]
            x = [part.encoder_mlp[layer](own + part.encoder[layer](seen[i], seen[:i] + seen[i + 1:]))
                 for i, (part, own) in enumerate(zip(self.parts, x))]
            kept.append(x)
        predicted = []
        for i, (part, own) in enumerate(zip(self.parts, x)):
            for layer in range(self.layers):
                encoded = standard(kept[-1 - layer][i])
                own = part.decoder_mlp[layer](own + part.decoder[layer](standard(own), encoded))
            masked = own.flatten(0, 1)[rows]
            predicted.append(torch.stack([member(masked) for member in part.tail]))
        return predicted

    def batch(self, size):
        tokens = torch.randn(self.fields, size, self.levels * self.level_tokens, self.points)
        return tokens, torch.rand(size, tokens.shape[2], 8), torch.arange(size * self.levels) * self.level_tokens

    def loss(self, batch):
        tokens, info, rows = batch
        targets = tokens.flatten(1, 2)[:, rows]
        seen = tokens.clone()
        seen.view(self.fields, -1, self.points)[:, rows] = 0
        losses = []
        for members, target in zip(self(seen, info, rows), targets):
            variance = members.var(0) + 1e-12
            miss = 1 - torch.exp(-0.5 * (members.mean(0) - target) ** 2 / variance)
            losses.append(((members - target) ** 2).mean(0) + miss**2 + variance.sqrt().sqrt())
        return torch.stack(losses).mean() / 2

    def optimizers(self, tuned):
        matrices = [p for p in self.parameters() if p.dim() >= 2]
        others = [p for p in self.parameters() if p.dim() < 2]
        return [torch.optim.AdamW([{"params": matrices, "weight_decay": 0.05},
                                   {"params": others, "weight_decay": 0.0}], lr=5e-6, foreach=tuned or None)]


# CosmoFlow, round 0.7


class CosmoFlow(nn.Module):
    side = 64

    def __init__(self):
        super().__init__()
        widths = (4, 32, 64, 128, 256, 512)
        self.convolutions = nn.ModuleList(nn.Conv3d(a, b, 2) for a, b in zip(widths, widths[1:]))
        self.dense = nn.ModuleList([nn.Linear(512 * (self.side // 32) ** 3, 128), nn.Linear(128, 64), nn.Linear(64, 4)])

    def forward(self, x):
        x = torch.log1p(x)
        for convolution in self.convolutions:
            x = functional.max_pool3d(functional.leaky_relu(convolution(functional.pad(x, (0, 1) * 3)), 0.3), 2)
        x = x.flatten(1)
        for layer in self.dense[:2]:
            x = functional.dropout(functional.leaky_relu(layer(x), 0.3), 0.5, self.training)
        return 1.2 * torch.tanh(self.dense[2](x))

    def batch(self, size):
        return torch.rand(size, 4, *[self.side] * 3), torch.rand(size, 4)

    def loss(self, batch):
        x, y = batch
        return functional.mse_loss(self(x), y)

    def optimizers(self, tuned):
        return [torch.optim.SGD(trainable(self), lr=1e-3, momentum=0.9, foreach=tuned or None)]


# DeepCAM


def convolution(before, after, kernel=1, stride=1, dilation=1, groups=1):
    return nn.Conv2d(before, after, kernel, stride, dilation * (kernel - 1) // 2, dilation, groups, bias=False)


def convolution_relu(before, after, kernel=1, stride=1, dilation=1):
    return nn.Sequential(convolution(before, after, kernel, stride, dilation), nn.BatchNorm2d(after), nn.ReLU())


def separable(before, after, stride=1, dilation=1):
    return nn.Sequential(convolution(before, before, 3, stride, dilation, before), convolution(before, after))


def doubling(before, after):
    return nn.ConvTranspose2d(before, after, 3, 2, 1, 1, bias=False)


def doubling_relu(before, after):
    return nn.Sequential(doubling(before, after), nn.BatchNorm2d(after), nn.ReLU())


class ResidualBlock(nn.Module):
    """Separable convolutions to these widths; a last one with this stride is not normalised."""

    def __init__(self, before, widths, stride=1, extra=False, relu=True):
        super().__init__()
        layers, last = [], before
        for i, width in enumerate(widths):
            layers += [nn.ReLU()] if i else []
            layers += [separable(last, width), nn.BatchNorm2d(width)]
            last = width
        if extra:
            layers.append(separable(last, last, stride))
        self.layers = nn.Sequential(*layers)
        self.shortcut = nn.Identity()
        if before != last or stride != 1:
            self.shortcut = nn.Sequential(convolution(before, last, 1, stride), nn.BatchNorm2d(last))
        self.relu = relu

    def forward(self, x):
        x = self.shortcut(x) + self.layers(x)
        return functional.relu(x) if self.relu else x


class DeepCam(nn.Module):
    height, width = 192, 288

    def __init__(self):
        super().__init__()
        self.entry = nn.Sequential(convolution_relu(16, 32, 3, 2), convolution_relu(32, 64, 3))
        self.first = ResidualBlock(64, (128, 128), 2, True)
        self.blocks = nn.Sequential(ResidualBlock(128, (256, 256), 2, True), ResidualBlock(256, (728, 728), 2, True),
                                    *(ResidualBlock(728, (728,) * 3) for _ in range(16)),
                                    ResidualBlock(728, (728, 1024), 1, True, False))
        exits = []
        for before, after in ((1024, 1536), (1536, 1536), (1536, 2048)):
            exits += [separable(before, after, dilation=2), nn.BatchNorm2d(after), nn.ReLU()]
        self.exit = nn.Sequential(*exits)
        self.branches = nn.ModuleList(convolution_relu(2048, 256, 1 if rate == 1 else 3, 1, rate)
                                      for rate in (1, 6, 12, 18))
        self.image = convolution(2048, 256)
        self.image_scale, self.image_shift = (nn.Parameter(torch.full((256, 1, 1), v)) for v in (1.0, 0.0))
        self.join = convolution_relu(1280, 256)
        self.low_level = convolution_relu(128, 48)
        self.doubling = nn.Sequential(doubling_relu(256, 256), doubling_relu(256, 256))
        self.decoder = nn.Sequential(convolution_relu(304, 256, 3), convolution_relu(256, 256, 3),
                                     nn.Conv2d(256, 256, 1), doubling_relu(256, 256), doubling(256, 3))

    def forward(self, x):
        low = self.first(self.entry(x))
        x = self.exit(self.blocks(low))
        views = [branch(x) for branch in self.branches]
        image = self.image(x.mean((2, 3), keepdim=True)) * self.image_scale + self.image_shift
        views.append(functional.relu(image).expand(-1, -1, *x.shape[2:]))
        x = self.doubling(self.join(torch.cat(views, 1)))
        return self.decoder(torch.cat([x, self.low_level(low)], 1))

    def batch(self, size):
        shape = (self.height, self.width)
        return torch.rand(size, 16, *shape), torch.randint(3, (size, *shape))

    def loss(self, batch):
        x, y = batch
        weights = torch.tensor([frequency**-0.125 for frequency in (0.9862678, 0.00045787087, 0.01327431072)])
        return (functional.cross_entropy(self(x), y, weights, reduction="none")).mean()

    def optimizers(self, tuned):
        return [torch.optim.Adam(trainable(self), lr=1e-3, eps=1e-6, weight_decay=1e-6, foreach=tuned or None)]


classes = {"ap1": Ap1, "ap2": Ap2, "ap3_cnn": Ap3Cnn, "ap3_lstm": Ap3Lstm, "ap4": Ap4, "ap5": Ap5,
           "ap6": Ap6, "atmorep": AtmoRep, "cosmoflow": CosmoFlow, "deepcam": DeepCam}
