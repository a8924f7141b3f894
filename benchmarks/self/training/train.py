"""One training in Python, with the figures that the step programs print: train.py OPTIONS

With --tuned the optimizer takes all parameters at once (foreach), gradients are released rather than
set to zero, and Python's collector of garbage is off; the settings of malloc are in the environment.
"""

import argparse
import gc
import statistics
import time

import torch
from torch.nn import functional

import applications
import networks


def report(name, value):
    print(f"{name}={value:.9g}" if isinstance(value, float) else f"{name}={value}", flush=True)


def image_training(arguments):
    """The model, its optimizer and what gives its loss."""
    blocks, expansion = {"resnet18": ([2, 2, 2, 2], 1), "resnet50": ([3, 4, 6, 3], 4)}[arguments.network]
    model = networks.ResNet(blocks, expansion)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1 * arguments.batch / 256, momentum=0.9,
                                weight_decay=1e-4, foreach=arguments.tuned or None)
    images = torch.randn(arguments.batch, 3, arguments.side, arguments.side)
    labels = torch.randint(1000, (arguments.batch,))
    return model, [optimizer], lambda: functional.cross_entropy(model(images), labels)


def text_training(arguments):
    model = networks.Gpt(layers=4, hidden=256, heads=4, sequence=128, vocabulary=2048, deviation=0.02)
    matrices = [p for p in model.parameters() if p.dim() >= 2]
    others = [p for p in model.parameters() if p.dim() < 2]
    optimizer = torch.optim.AdamW([{"params": matrices, "weight_decay": 0.1},
                                   {"params": others, "weight_decay": 0.0}],
                                  lr=1e-4, foreach=arguments.tuned or None)

    def loss():
        tokens = torch.randint(2048, (arguments.batch, 129))
        return functional.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())

    return model, [optimizer], loss


def application_training(arguments):
    model = applications.classes[arguments.network]()
    batch = model.batch(arguments.batch)
    return model, model.optimizers(arguments.tuned), lambda: model.loss(batch), batch


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--network", choices=["resnet18", "resnet50", "gpt", *applications.classes], required=True)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--side", type=int, default=64)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--warmup", type=int, default=3)
    parser.add_argument("--tuned", action="store_true")
    arguments = parser.parse_args()

    torch.set_num_threads(arguments.threads)
    torch.manual_seed(1)
    trainings = {"gpt": text_training} | {name: application_training for name in applications.classes}
    model, optimizers, compute_loss, *batch = trainings.get(arguments.network, image_training)(arguments)
    clip_norm = 1.0 if arguments.network == "gpt" else getattr(model, "clip_norm", None)
    report("torch_version", torch.__version__)
    report("trainable_parameters", sum(p.numel() for p in applications.trainable(model)))

    release = {"set_to_none": True} if arguments.tuned else {}

    def step():
        if hasattr(model, "step"):
            return model.step(*batch, optimizers, release)
        for optimizer in optimizers:
            optimizer.zero_grad(**release)
        loss = compute_loss()
        loss.backward()
        if clip_norm:
            torch.nn.utils.clip_grad_norm_(model.parameters(), clip_norm)
        for optimizer in optimizers:
            optimizer.step()
        return loss.detach()

    if arguments.tuned:
        gc.disable()
    losses = [step() for _ in range(arguments.warmup)]
    times_s = []
    for _ in range(arguments.steps):
        begin = time.perf_counter()
        losses.append(step())
        times_s.append(time.perf_counter() - begin)
    report("time_per_step_median_s", statistics.median(times_s))
    report("first_loss", losses[0].item())
    report("final_loss", losses[-1].item())


main()
