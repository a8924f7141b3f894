"""One training in Python, with the figures that the step programs print: train.py OPTIONS

With --tuned the optimizer takes all parameters at once (foreach), gradients are released rather than
set to zero, and Python's collector of garbage is off; the settings of malloc are in the environment.
On a GPU, --tuned also means fused optimizers, fused attention, images in channels-last memory and
cuDNN's search for the fastest algorithm.
"""

import argparse
import contextlib
import gc
import statistics
import time

import torch
from torch.nn import functional

import applications
import networks


def report(name, value):
    print(f"{name}={value:.9g}" if isinstance(value, float) else f"{name}={value}", flush=True)


def on_gpu(arguments):
    return arguments.device != "cpu"


def optimizer_options(arguments):
    if not arguments.tuned:
        return {}
    return {"fused": True} if on_gpu(arguments) else {"foreach": True}


def image_training(arguments):
    """The model, its optimizer and what gives its loss."""
    blocks, expansion = {"resnet18": ([2, 2, 2, 2], 1), "resnet50": ([3, 4, 6, 3], 4)}[arguments.network]
    model = networks.ResNet(blocks, expansion)
    layout = torch.channels_last if on_gpu(arguments) and arguments.tuned else torch.contiguous_format
    model.to(arguments.device, memory_format=layout)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1 * arguments.batch / 256, momentum=0.9,
                                weight_decay=1e-4, **optimizer_options(arguments))
    images = torch.randn(arguments.batch, 3, arguments.side, arguments.side)
    images = images.to(arguments.device, memory_format=layout)
    labels = torch.randint(1000, (arguments.batch,), device=arguments.device)
    return model, [optimizer], lambda: functional.cross_entropy(model(images), labels)


def text_training(arguments):
    model = networks.Gpt(arguments.layers, arguments.hidden, arguments.heads, arguments.sequence,
                         arguments.vocabulary, deviation=0.02,
                         fused=on_gpu(arguments) and arguments.tuned).to(arguments.device)
    matrices = [p for p in model.parameters() if p.dim() >= 2]
    others = [p for p in model.parameters() if p.dim() < 2]
    optimizer = torch.optim.AdamW([{"params": matrices, "weight_decay": 0.1},
                                   {"params": others, "weight_decay": 0.0}],
                                  lr=1e-4, **optimizer_options(arguments))

    def loss():
        tokens = torch.randint(arguments.vocabulary, (arguments.batch, arguments.sequence + 1),
                               device=arguments.device)
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
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--hidden", type=int, default=256)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--sequence", type=int, default=128)
    parser.add_argument("--vocabulary", type=int, default=2048)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu", help="vision's and gpt's networks")
    parser.add_argument("--precision", choices=["fp32", "bf16", "fp16"], default="fp32", help="by autocast")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--warmup", type=int, default=3)
    parser.add_argument("--tuned", action="store_true")
    arguments = parser.parse_args()

    torch.set_num_threads(arguments.threads)
    torch.manual_seed(1)
    torch.backends.cudnn.benchmark = arguments.tuned
    trainings = {"gpt": text_training} | {name: application_training for name in applications.classes}
    model, optimizers, compute_loss, *batch = trainings.get(arguments.network, image_training)(arguments)
    clip_norm = 1.0 if arguments.network == "gpt" else getattr(model, "clip_norm", None)
    report("torch_version", torch.__version__)
    report("trainable_parameters", sum(p.numel() for p in applications.trainable(model)))

    release = {"set_to_none": True} if arguments.tuned else {}
    autocast = contextlib.nullcontext()
    if arguments.precision != "fp32":
        autocast = torch.autocast(arguments.device, {"bf16": torch.bfloat16, "fp16": torch.float16}[arguments.precision])
    scaler = torch.cuda.amp.GradScaler(enabled=arguments.precision == "fp16")

    def step():
        if hasattr(model, "step"):
            return model.step(*batch, optimizers, release)
        for optimizer in optimizers:
            optimizer.zero_grad(**release)
        with autocast:
            loss = compute_loss()
        scaler.scale(loss).backward()
        if clip_norm:
            for optimizer in optimizers:
                scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(model.parameters(), clip_norm)
        for optimizer in optimizers:
            scaler.step(optimizer)
        scaler.update()
        return loss.detach()

    if arguments.tuned:
        gc.disable()
    losses = [step() for _ in range(arguments.warmup)]
    times_s = []
    for _ in range(arguments.steps):
        begin = time.perf_counter()
        losses.append(step())
        if on_gpu(arguments):
            torch.cuda.synchronize()
        times_s.append(time.perf_counter() - begin)
    report("time_per_step_median_s", statistics.median(times_s))
    report("first_loss", losses[0].item())
    report("final_loss", losses[-1].item())


main()
