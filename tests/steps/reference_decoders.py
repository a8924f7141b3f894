"""GPT and Llama, decoders of tokens, for reference.py."""

import math

import torch


def decoder(weights, inputs, norm, mlp):
    tokens = inputs["tokens"].long()[:, :-1]
    heads, groups = (int(count) for count in inputs["heads"])
    batch, length = tokens.shape
    later = torch.ones(length, length, dtype=torch.bool).triu(1)

    def rotate(x):
        half = x.shape[-1] // 2
        speeds = inputs["rotary_base"].double() ** (-torch.arange(half).double() / half)
        angles = (torch.arange(length).double()[:, None] * speeds).reshape(length, 1, 1, half)
        turns = torch.complex(torch.cos(angles), torch.sin(angles)).to(torch.complex(x, x).dtype)
        turned = torch.complex(x[..., :half], x[..., half:]) * turns
        return torch.cat([turned.real, turned.imag], -1)

    def attend(name, x):
        x = project(weights, f"{name}.queries_keys_values", x)
        x = x.reshape(batch, length, groups, heads // groups + 2, -1)
        q, k, v = x[..., :-2, :], x[..., -2:-1, :], x[..., -1, :]
        if "rotary_base" in inputs:
            q, k = rotate(q), rotate(k)
        scores = torch.einsum("bighd,bjgd->bghij", q, k[..., 0, :]) / math.sqrt(q.shape[-1])
        chances = torch.softmax(scores.masked_fill(later, -torch.inf), -1)
        x = torch.einsum("bghij,bjgd->bighd", chances, v).reshape(batch, length, -1)
        return project(weights, f"{name}.projection", x)

    x = weights["embedding"][tokens]
    if "positions" in weights:
        x = x + weights["positions"]
    for layer in range(2):
        name = f"layer{layer}"
        x = x + attend(f"{name}.attention", norm(f"{name}.attention_norm", x))
        x = x + mlp(name, norm(f"{name}.mlp_norm", x))
    return [norm("norm", x) @ weights.get("output", weights["embedding"]).T]


def project(weights, name, x):
    x = x @ weights[f"{name}.weight"].T
    return x + weights[f"{name}.bias"] if f"{name}.bias" in weights else x


def gpt(weights, constants, inputs):
    def norm(name, x):
        x = x - x.mean(-1, keepdim=True)
        x = x / torch.sqrt((x**2).mean(-1, keepdim=True) + 1e-5)
        return x * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    def mlp(name, x):
        x = project(weights, f"{name}.mlp_up", x)
        return project(weights, f"{name}.mlp_down", x * (1 + torch.erf(x / math.sqrt(2))) / 2)

    return decoder(weights, inputs, norm, mlp)


def llama(weights, constants, inputs):
    def norm(name, x):
        return x / torch.sqrt((x**2).mean(-1, keepdim=True) + 1e-5) * weights[f"{name}.weight"]

    def swiglu(name, x):
        gate, up = project(weights, f"{name}.gate_up", x).chunk(2, -1)
        return project(weights, f"{name}.down", gate * torch.sigmoid(gate) * up)

    def mlp(name, x):
        if f"{name}.experts.router" not in weights:
            return swiglu(f"{name}.mlp", x)
        scores = x @ weights[f"{name}.experts.router"].T
        lowest = scores.topk(2)[0][..., 1:]
        shares = torch.softmax(scores.masked_fill(scores < lowest, -torch.inf), -1)
        experts = range(scores.shape[-1])
        return sum(swiglu(f"{name}.experts.expert{i}", x) * shares[..., i : i + 1] for i in experts)

    return decoder(weights, inputs, norm, mlp)


def next_token_loss(outputs, targets):
    chances = torch.softmax(outputs[0], -1)
    return -torch.log(chances.gather(-1, targets["next"].long()[..., None])).mean()
