#!/usr/bin/env python3
"""Computes a network of the step programs again, from the weights and inputs of a test.

Says `ready`, reads lines `NETWORK FILE`, and answers each with lines NAME=VALUE and a line `end`.

FILE holds tensors: a line `KIND NAME SIZE...`, where KIND is parameter, constant, input or target,
then the numbers as doubles. Computes in single and in double precision. Prints the loss and the norm of
all gradients (summed in double precision, whatever they were computed in), and writes the outputs
to FILE.float32 and FILE.float64 as doubles.
"""

import math
import sys
from collections import defaultdict

try:
    import torch
    import torch.nn.functional as F
except ImportError:
    print("no torch")
    sys.exit(1)
from reference_decoders import gpt, llama, next_token_loss


def read_tensors(path):
    """Tensors by kind and name."""
    kinds = defaultdict(dict)
    with open(path, "rb") as file:
        while header := file.readline().decode().split():
            kind, name, *sizes = header
            sizes = [int(size) for size in sizes]
            count = 1
            for size in sizes:
                count *= size
            numbers = torch.frombuffer(bytearray(file.read(8 * count)), dtype=torch.float64)
            kinds[kind][name] = numbers.reshape(sizes)
    return kinds


# AP1: a U-Net of 1x1 convolutions, trained on quantiles.


def unet(weights, constants, inputs):
    def convolve(name, x):
        return F.conv2d(x, weights[f"{name}.weight"], weights[f"{name}.bias"])

    def block(name, x):
        for part in "first", "second":
            x = convolve(f"{name}.{part}", x)
            mean = x.mean((0, 2, 3), keepdim=True)
            variance = x.var((0, 2, 3), unbiased=False, keepdim=True)
            x = F.relu((x - mean) / torch.sqrt(variance + 1e-3))
        return x

    x = inputs["predictors"]
    kept = []
    for level in range(5):
        kept.append(block(f"encoder{level}", x))
        x = F.max_pool2d(kept[-1], 2)
    x = block("bottom", x)
    for level in reversed(range(5)):
        x = F.relu(convolve(f"decoder{level}.reduce", x))
        x = x.repeat_interleave(2, dim=2).repeat_interleave(2, dim=3)
        x = F.relu(convolve(f"decoder{level}.smooth", F.pad(x, (0, 1, 0, 1))))
        x = block(f"decoder{level}.block", torch.cat([kept[level], x], 1))
    return [convolve("head", x)]


def quantile_loss(outputs, targets):
    (prediction,) = outputs
    scores = []
    for i, quantile in enumerate((0.1, 0.5, 0.9)):
        error = targets["target"][:, 0] - prediction[:, i]
        scores.append(torch.where(error < 0, (quantile - 1) * error, quantile * error).mean())
    return sum(scores) / 3


# AP2: a DeBERTa-v3 with three heads that classifies texts.


def deberta(weights, constants, inputs):
    def dense(name, x):
        return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def normalise(name, x):
        mean = x.mean(-1, keepdim=True)
        variance = ((x - mean) ** 2).mean(-1, keepdim=True)
        x = (x - mean) / torch.sqrt(variance + 1e-7)
        return x * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    def heads(x):
        return x.reshape(*x.shape[:-1], 3, -1).transpose(-2, -3)

    def bucket(distance):
        if abs(distance) <= 128:
            return distance
        size = math.ceil(math.log(abs(distance) / 128) / math.log(511 / 128) * 127) + 128
        return size if distance > 0 else -size

    tokens = inputs["input_ids"].long()
    length = tokens.shape[1]
    rows = torch.tensor(
        [[min(max(bucket(i - j) + 256, 0), 511) for j in range(length)] for i in range(length)]
    )
    keep = tokens != 0
    x = normalise("words_norm", weights["words.weight"][tokens]) * keep[:, :, None]
    relative = normalise("relative_norm", weights["relative"])
    query, key = torch.arange(length)[:, None], torch.arange(length)[None]
    for layer in range(2):
        name = f"layer{layer}.attention"
        q, k, v = (heads(dense(f"{name}.{part}", x)) for part in ("query", "key", "value"))
        place_q, place_k = (heads(dense(f"{name}.{part}", relative)) for part in ("query", "key"))
        scores = q @ k.transpose(-1, -2)
        # The place of query i seen from key j, and of key j seen from query i, both i - j.
        scores = scores + (q @ place_k.transpose(-1, -2))[:, :, query, rows]
        scores = scores + (k @ place_q.transpose(-1, -2))[:, :, key, rows]
        scores = scores / math.sqrt(3 * q.shape[-1])
        scores = scores.masked_fill(~keep[:, None, None], -torch.inf)
        mixed = (torch.softmax(scores, -1) @ v).transpose(1, 2).flatten(2)
        x = normalise(f"layer{layer}.attention_norm", x + dense(f"{name}.output", mixed))
        wide = F.gelu(dense(f"layer{layer}.widen", x))
        x = normalise(f"layer{layer}.norm", x + dense(f"layer{layer}.narrow", wide))
    return [dense("classifier", F.gelu(dense("pooler", x[:, 0])))]


def cross_entropy(outputs, targets):
    (scores,) = outputs
    chances = torch.softmax(scores, 1)
    labels = targets["label"].long()
    return -torch.log(chances[torch.arange(len(labels)), labels]).mean()


# AP3: solar radiation in a column of the atmosphere.

HEATING = 9.80665 / 1004 * 86400


def incoming(inputs):
    return (inputs["sca_inputs"][:, 1] * inputs["sca_inputs"][:, 16])[:, None]


def cnn(weights, constants, inputs):
    def convolve(name, x, dilation=1):
        weight, bias = weights[f"{name}.weight"], weights[f"{name}.bias"]
        return F.conv1d(F.pad(x, (2 * dilation, 2 * dilation)), weight, bias, dilation=dilation)

    scalars = inputs["sca_inputs"] * constants["scalar_factors"]
    x = torch.cat(
        [
            scalars[:, None].repeat(1, 138, 1),
            F.pad(inputs["col_inputs"] * constants["layer_factors"], (0, 0, 1, 0)),
            inputs["hl_inputs"] * constants["half_level_factors"],
            F.pad(inputs["inter_inputs"], (0, 0, 1, 1)),
        ],
        2,
    ).transpose(1, 2)
    for i, dilation in enumerate((1, 2, 4, 8, 16, 1, 1, 1, 1, 1, 1)):
        x = convolve(f"convolution{i}", x, dilation)
        x = x * torch.sigmoid(x)
    rate = convolve("heating_rate", x)[:, 0, :137]
    fluxes = F.silu(convolve("flux_features", x)).transpose(1, 2).reshape(len(x), -1)
    fluxes = torch.cat([fluxes, scalars], 1)
    for i in range(3):
        fluxes = F.silu(fluxes @ weights[f"dense{i}.weight"].T + weights[f"dense{i}.bias"])
    fluxes = fluxes @ weights["surface_fluxes.weight"].T + weights["surface_fluxes.bias"]
    down, up = (torch.sigmoid(fluxes) * incoming(inputs)).unbind(1)
    thickness = inputs["pressure_hl"][:, 1:, 0] - inputs["pressure_hl"][:, :-1, 0]
    top = down - up + (rate * thickness).sum(1) / HEATING
    return [torch.stack([top, down, up], 1), rate[:, :, None]]


def cnn_loss(outputs, targets):
    fluxes, rate = outputs
    profile = targets["sw"]
    bounds = torch.stack([profile[:, 0, 0] - profile[:, 0, 1], profile[:, -1, 0], profile[:, -1, 1]], 1)
    return 1000 * ((rate - targets["hr_sw"]) ** 2).mean() + ((fluxes - bounds) ** 2).mean()


def lstm(weights, constants, inputs):
    def run(name, x, hidden, cell):
        """All outputs, and the last one with the last cell."""
        outputs = []
        for step in x.unbind(1):
            gates = (
                step @ weights[f"{name}.weight_ih_l0"].T
                + weights[f"{name}.bias_ih_l0"]
                + hidden @ weights[f"{name}.weight_hh_l0"].T
            )
            enter, forget, new, leave = gates.chunk(4, 1)
            cell = torch.sigmoid(forget) * cell + torch.sigmoid(enter) * torch.tanh(new)
            hidden = torch.sigmoid(leave) * torch.tanh(cell)
            outputs.append(hidden)
        return torch.stack(outputs, 1), hidden, cell

    def dense(name, x):
        return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    columns, half_levels = inputs["col_inputs"], inputs["hl_inputs"]
    middle = (half_levels[:, 1:] + half_levels[:, :-1]) / 2
    seen = [i for i in range(27) if i not in (5, 8, 9)]
    features = torch.cat(
        [
            columns[:, :, seen] * constants["layer_factors"],
            inputs["sca_inputs"][:, None, 1:2].repeat(1, 137, 1),
            torch.log(middle[:, :, :1]) * 0.086698161,
            middle[:, :, 1:] * 0.0031765,
            (half_levels[:, 1:, :1] - half_levels[:, :-1, :1]) * 0.0004561,
        ],
        2,
    )
    zeros = torch.zeros(len(columns), 64)
    down, hidden, cell = run("down", features, zeros, zeros)
    surface = torch.cat([hidden, cell, inputs["sca_inputs"][:, 2:14]], 1)
    hidden, cell = dense("surface_output", surface), dense("surface_cell", surface)
    levels = torch.cat([down, hidden[:, None]], 1)
    levels = torch.cat([levels, F.pad(inputs["inter_inputs"], (0, 0, 1, 1))], 2)
    up, _, _ = run("up", levels.flip(1), hidden, cell)
    last, _, _ = run("down_again", torch.cat([levels, up.flip(1)], 2), zeros, zeros)
    fluxes = torch.sigmoid(dense("fluxes", last)) * incoming(inputs)[:, None]
    net = fluxes[:, :, 0] - fluxes[:, :, 1]
    pressure = inputs["pressure_hl"][:, :, 0]
    rate = HEATING * (net[:, :-1] - net[:, 1:]) / (pressure[:, 1:] - pressure[:, :-1])
    return [fluxes, rate[:, :, None]]


def lstm_loss(outputs, targets):
    fluxes, rate = outputs
    top = targets["sw"][:, :1, :1]
    error = (fluxes / top - targets["sw"] / top).abs().mean()
    return 0.1 * (rate - targets["hr_sw"]).abs().mean() + error


# AP4: a U-Net of 3x3 convolutions, trained on the CRPS of normal distributions.


def normalise(weights, name, x, epsilon):
    mean = x.mean((0, 2, 3), keepdim=True)
    variance = ((x - mean) ** 2).mean((0, 2, 3), keepdim=True)
    scale, shift = (weights[f"{name}.{part}"][:, None, None] for part in ("weight", "bias"))
    return (x - mean) / torch.sqrt(variance + epsilon) * scale + shift


def ens10(weights, constants, inputs):
    def block(name, x):
        for part in "first", "second":
            x = F.pad(x, (1, 1, 1, 1))
            x = F.conv2d(x, weights[f"{name}.{part}.weight"], weights[f"{name}.{part}.bias"])
            x = F.relu(normalise(weights, f"{name}.{part}_norm", x, 1e-5))
        return x

    def enlarge(x, height):
        x = F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)
        return torch.cat([x[:, :, :1]] * (height - x.shape[2]) + [x], 2)

    full = block("encoder0", inputs["predictors"])
    half = block("encoder1", F.max_pool2d(full, 2))
    x = block("decoder2", block("encoder2", F.max_pool2d(half, 2)))
    x = block("decoder1", torch.cat([half, enlarge(x, half.shape[2])], 1))
    x = block("decoder0", torch.cat([full, enlarge(x, full.shape[2])], 1))
    return [F.conv2d(x, weights["head.weight"], weights["head.bias"], padding=1)]


def crps_loss(outputs, targets):
    (output,) = outputs
    mean, deviation = targets["scale"][:, 0], targets["scale"][:, 1]
    mu = output[:, 0] * deviation + mean
    sigma = torch.exp(output[:, 1]) * deviation
    normal = torch.distributions.Normal(0, 1)
    z = (mu - targets["target"][:, 0]) / sigma
    density = torch.exp(normal.log_prob(z))
    return (sigma * (z * (2 * normal.cdf(z) - 1) + 2 * density - 1 / torch.pi**0.5)).mean()


# AP5: a Wasserstein GAN with gradient penalty.


def layer(weights, name, x, stride=1):
    height, width = (-side % stride for side in x.shape[2:])  # of an odd side: 1
    if stride == 1:
        x = F.pad(x, (1, 1, 1, 1))
    else:
        x = F.pad(x, (width, 1, height, 1))
    weight, bias = weights[f"{name}.convolution.weight"], weights[f"{name}.convolution.bias"]
    x = normalise(weights, f"{name}.norm", F.conv2d(x, weight, bias, stride=stride), 1e-3)
    return x * torch.sigmoid(x)


def dense(weights, name, x):
    return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]


def score(weights, x):
    for i in range(4):
        x = layer(weights, f"layer{i}", x, stride=2)
    return dense(weights, "score", F.silu(dense(weights, "dense", x.mean((2, 3)))))


def critic(weights, constants, inputs):
    critic.weights, critic.inputs = weights, inputs
    return [score(weights, inputs["generated"]), score(weights, inputs["real"])]


def critic_loss(outputs, targets):
    generated, real = outputs
    fields = critic.inputs
    between = fields["real"] + targets["alpha"] * (fields["generated"] - fields["real"])
    between.requires_grad_()
    (gradient,) = torch.autograd.grad(score(critic.weights, between).sum(), between, create_graph=True)
    norms = (gradient**2).mean((1, 2, 3)) ** 0.5
    return generated.mean() - real.mean() + 10 * ((norms - 1) ** 2).mean()


def generator(weights, constants, inputs):
    x = layer(weights, "second", layer(weights, "encoder0", inputs["predictors"]))
    kept = []
    for level in 1, 2, 3:
        kept.append(x)
        x = layer(weights, f"encoder{level}", F.max_pool2d(x, 2))
    for level in reversed(range(3)):
        name = f"decoder{level}"
        x = F.conv2d(x, weights[f"{name}.enlarge.weight"], weights[f"{name}.enlarge.bias"], padding=1)
        x = F.silu(x)
        batch, channels, height, width = x.shape
        x = x.reshape(batch, channels // 4, 2, 2, height, width).permute(0, 1, 4, 2, 5, 3)
        x = x.reshape(batch, channels // 4, 2 * height, 2 * width)
        x = layer(weights, f"{name}.first", torch.cat([x, kept.pop()], 1))
        x = layer(weights, f"{name}.second", x)
    heads = [F.conv2d(x, weights[f"{name}.weight"], weights[f"{name}.bias"]) for name in ("temperature", "height")]
    return [torch.cat(heads, 1)]


def generator_loss(outputs, targets):
    (fine,) = outputs
    errors = (fine - targets["target"]).abs()
    return 1000 * (errors[:, 0].mean() + errors[:, 1].mean()) - score(targets, fine[:, :1]).mean()


# AP6: a ResNet-50 whose features are classified by their clusters.


def deepcluster(weights, constants, inputs):
    def norm(name, x):
        return normalise(weights, name, x, 1e-5)

    def convolve(name, x, stride=1):
        weight = weights[f"{name}.weight"]
        return F.conv2d(x, weight, stride=stride, padding=weight.shape[2] // 2)

    layers = "encoder.layers"
    x = F.pad(inputs["crops"].flatten(0, 1), (1, 1, 1, 1))
    x = F.conv2d(x, weights[f"{layers}.convolution0.weight"], stride=2, padding=2)
    x = F.max_pool2d(F.relu(norm(f"{layers}.normalisation1", x)), 3, 2, 1)
    layer = 4
    for width, blocks in enumerate((3, 4, 6, 3)):
        for block in range(blocks):
            path, shortcut = (f"{layers}.branches{layer}.path{i}" for i in (0, 1))
            stride = 2 if width > 0 and block == 0 else 1
            y = F.relu(norm(f"{path}.normalisation1", convolve(f"{path}.convolution0", x)))
            y = F.relu(norm(f"{path}.normalisation4", convolve(f"{path}.convolution3", y, stride)))
            y = norm(f"{path}.normalisation7", convolve(f"{path}.convolution6", y))
            if block == 0:
                x = norm(f"{shortcut}.normalisation1", convolve(f"{shortcut}.convolution0", x, stride))
            x = F.relu(x + y)
            layer += 2
    x = dense(weights, f"{layers}.linear{layer + 1}", x.mean((2, 3)))
    x = F.relu(norm(f"{layers}.normalisation{layer + 2}", x[:, :, None, None])[:, :, 0, 0])
    x = dense(weights, f"{layers}.linear{layer + 4}", x)
    x = x / (x**2).sum(1, keepdim=True) ** 0.5
    deepcluster.prototypes = weights["prototypes.weight"]
    return [x.reshape(-1, 2, 128)]


def cluster_loss(outputs, targets):
    (features,) = outputs
    losses = []
    for labels, prototypes in zip(targets["labels"].long(), deepcluster.prototypes):
        known = torch.nonzero(labels >= 0)[:, 0]
        for crop in features.unbind(1):
            chances = torch.softmax(crop @ prototypes.T / 0.1, 1)
            losses.append(-torch.log(chances[known, labels[known]]).mean())
    return sum(losses) / len(losses)


# CosmoFlow: parameters of a universe from the counts of its cells.


def cosmoflow(weights, constants, inputs):
    x = torch.log(inputs["x"] + 1)
    for i in range(5):
        weight, bias = weights[f"convolution{i}.weight"], weights[f"convolution{i}.bias"]
        side = weight.shape[2]
        x = F.conv3d(F.pad(x, ((side - 1) // 2, side // 2) * 3), weight, bias)
        x = F.max_pool3d(torch.where(x > 0, x, 0.3 * x), 2)
    x = x.reshape(len(x), -1)
    for i in range(3):
        x = x @ weights[f"dense{i}.weight"].T + weights[f"dense{i}.bias"]
        x = torch.where(x > 0, x, 0.3 * x) if i < 2 else 1.2 * torch.tanh(x)
    return [x]


def squared_error(outputs, targets):
    return ((outputs[0] - targets["y"]) ** 2).mean()


# DeepCAM: classes of the weather at each grid point.


def deepcam(weights, constants, inputs):
    def norm(name, x):
        x = x - x.mean((0, 2, 3), keepdim=True)
        x = x / torch.sqrt((x**2).mean((0, 2, 3), keepdim=True) + 1e-5)
        return x * weights[f"{name}.weight"][:, None, None] + weights[f"{name}.bias"][:, None, None]

    def convolve(name, x, stride=1, dilation=1, groups=1):
        weight = weights[f"{name}.weight"]
        padding = dilation * (weight.shape[2] - 1) // 2
        return F.conv2d(x, weight, None, stride, padding, dilation, groups)

    def convolve_relu(name, x, stride=1, dilation=1):
        return F.relu(norm(f"{name}.norm", convolve(f"{name}.convolution", x, stride, dilation)))

    def double(name, x):
        return F.conv_transpose2d(x, weights[f"{name}.weight"], None, 2, 1, 1)

    def double_relu(name, x):
        return F.relu(norm(f"{name}.norm", double(f"{name}.convolution", x)))

    def separable(name, x, stride=1, dilation=1):
        x = convolve(f"{name}.depthwise", x, stride, dilation, groups=x.shape[1])
        return convolve(f"{name}.pointwise", x)

    def block(name, x, repetitions, stride=1, extra=False):
        y = x
        for i in range(repetitions):
            y = F.relu(y) if i > 0 else y
            y = norm(f"{name}.layer{i}.norm", separable(f"{name}.layer{i}", y))
        if extra:
            y = separable(f"{name}.layer{repetitions}", y, stride)
        if f"{name}.shortcut.weight" in weights:
            x = norm(f"{name}.shortcut_norm", convolve(f"{name}.shortcut", x, stride))
        return x + y

    x = (inputs["data"] - constants["smallest"]) * constants["factor"]
    x = convolve_relu("xception.entry0", x, stride=2)
    x = convolve_relu("xception.entry1", x)
    low = x = F.relu(block("xception.block0", x, 2, 2, True))
    for i in 1, 2:
        x = F.relu(block(f"xception.block{i}", x, 2, 2, True))
    for i in range(3, 19):
        x = F.relu(block(f"xception.block{i}", x, 3))
    x = block("xception.block19", x, 2, 1, True)
    for i in range(3):
        name = f"xception.exit{i}"
        x = F.relu(norm(f"{name}.norm", separable(name, x, dilation=2)))

    views = [
        convolve_relu(f"context.branch{i}", x, dilation=rate) for i, rate in enumerate((1, 6, 12, 18))
    ]
    image = convolve("context.image", x.mean((2, 3), keepdim=True))
    image = F.relu(image * weights["context.image_scale"] + weights["context.image_shift"])
    views.append(image.repeat(1, 1, *x.shape[2:]))
    x = convolve_relu("context.join", torch.cat(views, 1))

    x = double_relu("decoder.second", double_relu("decoder.first", x))
    x = torch.cat([x, convolve_relu("low_level", low)], 1)
    x = convolve_relu("decoder.smooth", convolve_relu("decoder.join", x))
    x = convolve("decoder.mix", x) + weights["decoder.mix.bias"][:, None, None]
    return [double("decoder.classify", double_relu("decoder.third", x))]


def weighted_cross_entropy(outputs, targets):
    (scores,) = outputs
    frequencies = (0.986267818390377, 0.0004578708870701058, 0.01327431072255291)
    weights = torch.tensor([frequency**-0.125 for frequency in frequencies])
    labels = targets["labels"].long()
    found = torch.log_softmax(scores, 1).gather(1, labels[:, None])[:, 0]
    return (-weights[labels] * found).mean()


# AtmoRep: transformers of coupled fields that predict masked tokens.


def atmorep(weights, constants, inputs):
    names = [name.removesuffix("_embed.weight") for name in weights if name.endswith("_embed.weight")]
    size = 8  # of a head

    def project(name, x):
        x = x @ weights[f"{name}.weight"].T
        return x + weights[f"{name}.bias"] if f"{name}.bias" in weights else x

    def standard(x):
        x = x - x.mean(-1, keepdim=True)
        return x / torch.sqrt((x**2).mean(-1, keepdim=True) + 1e-5)

    def norm(name, x):
        return standard(x) * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    def gelu(x):
        return x * (1 + torch.erf(x / math.sqrt(2))) / 2

    def attend(queries, keys, values, norms=None):
        heads = []
        for q, k, v in zip(*(x.split(size, -1) for x in (queries, keys, values))):
            if norms:
                q, k = norm(f"{norms}.query_norm", q), norm(f"{norms}.key_norm", k)
            heads.append(torch.softmax(q @ k.transpose(1, 2) / math.sqrt(size), -1) @ v)
        return torch.cat(heads, -1)

    def mlp(name, x):
        return x + gelu(project(f"{name}.narrow", gelu(project(f"{name}.widen", standard(x)))))

    levels, times, rows, columns = (int(extent) for extent in inputs["grid"])
    width = weights[f"{names[0]}_embed.weight"].shape[0] + 16
    waves = 2 * math.pi * torch.arange(0, width, 2) / width
    positions = []
    for level in range(levels):
        for time in range(times):
            for row in range(rows):
                for column in range(columns):
                    even = torch.sin(8 * row * waves) / 2 + torch.sin(time * waves)
                    odd = torch.cos(8 * column * waves) / 2 + torch.cos(level * waves)
                    positions.append(torch.stack([even, odd], 1).reshape(-1))
    positions = torch.stack(positions)

    kept = []
    x = {}
    for name, tokens in zip(names, inputs["tokens"]):
        embedded = [project(f"{name}_embed", tokens), project(f"{name}_embed_info", inputs["info"])]
        x[name] = torch.cat(embedded, -1) + positions
    for layer in range(2):
        tokens = {name: standard(x[name]) for name in names}
        for name in names:
            own = f"encoder{layer}.{name}_attention"
            found = [attend(*project(f"{own}.queries_keys_values", tokens[name]).chunk(3, -1))]
            others = [other for other in names if other != name]
            for i, other in enumerate(others):
                queries = project(f"{own}.other_queries", tokens[name])[..., i * size : (i + 1) * size]
                pair = project(f"{own}.keys_values_of_{other}", tokens[other]).chunk(2, -1)
                found.append(attend(queries, *pair))
            y = x[name] + project(f"{own}.output", torch.cat(found, -1))
            x[name] = mlp(f"encoder{layer}.{name}_mlp", y)
        kept.append(dict(x))
    predictions = []
    for i, name in enumerate(names):
        y = x[name]
        for layer in range(2):
            own = f"decoder{layer}.{name}_attention"
            encoded = standard(kept[-1 - layer][name])
            found = attend(*project(f"{own}.queries_keys_values", standard(y)).chunk(3, -1), own)
            queries = project(f"{own}.other_queries", standard(y))
            pair = project(f"{own}.other_keys_values", encoded).chunk(2, -1)
            found = torch.cat([found, attend(queries, *pair, own)], -1)
            y = mlp(f"decoder{layer}.{name}_mlp", y + project(f"{own}.output", found))
        y = y.reshape(-1, width)[inputs[f"rows{i}"].long()]
        heads = [norm(f"{name}_tail.norm{member}", y) for member in range(3)]
        heads = [project(f"{name}_tail.head{member}", head) for member, head in enumerate(heads)]
        predictions.append(torch.stack(heads))
    return predictions


def ensemble_loss(outputs, targets):
    losses = []
    for i, members in enumerate(outputs):
        target, weight = targets[f"target{i}"], targets[f"weight{i}"][:, None] / members.shape[2]
        mean = sum(members) / len(members)
        variance = sum((member - mean) ** 2 for member in members) / (len(members) - 1)
        error = sum((member - target) ** 2 for member in members) / len(members)
        likely = torch.exp(-((target - mean) ** 2) / (2 * variance))
        losses.append((weight * (error + (likely - 1) ** 2 + variance**0.25)).sum() / 2)
    return sum(losses) / len(losses)


NETWORKS = {
    "unet": (unet, quantile_loss),
    "deberta": (deberta, cross_entropy),
    "cnn": (cnn, cnn_loss),
    "lstm": (lstm, lstm_loss),
    "ens10": (ens10, crps_loss),
    "critic": (critic, critic_loss),
    "generator": (generator, generator_loss),
    "deepcluster": (deepcluster, cluster_loss),
    "cosmoflow": (cosmoflow, squared_error),
    "deepcam": (deepcam, weighted_cross_entropy),
    "atmorep": (atmorep, ensemble_loss),
    "gpt": (gpt, next_token_loss),
    "llama": (llama, next_token_loss),
}


def compute(name, path):
    network, loss_of = NETWORKS[name]
    tensors = read_tensors(path)
    for precision in torch.float32, torch.float64:
        torch.set_default_dtype(precision)
        weights, constants, inputs, targets = (
            {name: tensor.to(precision) for name, tensor in tensors[kind].items()}
            for kind in ("parameter", "constant", "input", "target")
        )
        for weight in weights.values():
            weight.requires_grad_()
        outputs = network(weights, constants, inputs)
        loss = loss_of(outputs, targets)
        loss.backward()
        title = str(precision).removeprefix("torch.")
        print(f"{title}_loss={loss.item():.17g}")
        norm = sum((weight.grad.double() ** 2).sum() for weight in weights.values()) ** 0.5
        print(f"{title}_gradient_norm={norm.item():.17g}")
        with open(f"{path}.{title}", "wb") as file:
            for output in outputs:
                file.write(bytes(output.detach().double().contiguous().numpy().tobytes()))


print("ready", flush=True)
for line in sys.stdin:
    compute(*line.split())
    print("end", flush=True)
