"""A step program beside the same training in Python: rounds.py NETWORK BATCH THREADS ROUNDS STEPS [--cpu]

Each round runs the step program, Python as it comes, Python with its settings tuned, and a product of
matrices, one after the other, so that a machine that is busy for a while is busy for each. Times are
medians over the rounds of the median step, ratios medians of the ratio within a round. With --cpu it
also prints CPU seconds of a step, which others on the machine change less: those of a run less those
of a run of one step.
"""

import os
import pathlib
import resource
import statistics
import subprocess
import sys

# As the step programs set them for themselves.
malloc = {"MALLOC_MMAP_THRESHOLD_": str(1 << 30), "MALLOC_TRIM_THRESHOLD_": str((1 << 31) - 1),
          "MALLOC_TOP_PAD_": str(64 << 20)}
folder = pathlib.Path(__file__).parent


def cpu_of_children():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def values_of(command, environment):
    """The lines `name=value` that a program prints, and its CPU seconds."""
    before = cpu_of_children()
    try:
        ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False,
                               env=os.environ | environment)
    except OSError:
        sys.exit(f"rounds.py: cannot start {command[0]}; bench finds the step programs that were built with it")
    if ended.returncode != 0:
        sys.exit(f"rounds.py: exit {ended.returncode}: {' '.join(command)}")
    values = dict(line.split("=", 1) for line in ended.stdout.splitlines() if "=" in line)
    return values | {"cpu_s": cpu_of_children() - before}


# The sizes of applications.py, where they are not those of the programs.
applications = {"ap1": ["ap1"], "ap2": ["ap2"], "ap3_cnn": ["ap3", "--model", "cnn"],
                "ap3_lstm": ["ap3", "--model", "lstm"], "ap4": ["ap4"], "ap5": ["ap5"],
                "ap6": ["ap6", "--height", "220", "--width", "140", "--samples-per-epoch", "40"],
                "atmorep": ["atmorep", "--fields", "t,u", "--levels", "2", "--width", "512", "--heads", "8",
                            "--layers", "3", "--recompute", "none", "--masking-rate", "0.004"],
                "cosmoflow": ["cosmoflow", "--size", "64"],
                "deepcam": ["deepcam", "--height", "192", "--width", "288"]}


def commands_of(network, batch, threads, steps):
    common = ["--threads", threads, "--steps", steps, "--warmup", "3"]
    if network in applications:
        program = applications[network] + ["--batch-size", batch, "--synthetic", "device"]
    elif network == "gpt":
        program = ["gpt", "--layers", "4", "--hidden", "256", "--heads", "4", "--seq", "128",
                   "--vocab-size", "2048", "--micro-batch-size", batch, "--init-std", "0.02",
                   "--lr-warmup-samples", "0", "--attention-dropout", "0", "--hidden-dropout", "0"]
    else:
        program = ["vision", "--model", network, "--image-size", "64", "--batch-size", batch]
    train = [sys.executable, str(folder / "train.py"), "--network", network, "--batch", batch, *common]
    return {"ours": (program + ["--device", "cpu", *common], {}),
            "python": (train, {}),
            "tuned": (train + ["--tuned"], malloc),
            "gemm": ([sys.executable, str(folder / "gemm.py"), threads], malloc)}


def kernels_of(who, found):
    """The kernels that ours chose where OpenBLAS does not know the processor; not for what comes as it is."""
    name = "OPENBLAS_CORETYPE"
    chosen = found.get("ours", {}).get(f"environment_{name}")
    return {name: chosen} if chosen and who in ("tuned", "gemm") else {}


def check_equal(found):
    """The same network in the same release, or the figures are not worth comparing."""
    def release(who):
        return found[who]["torch_version"].split(".")[:2]
    if release("ours") != release("python"):
        sys.exit(f"rounds.py: LibTorch is {found['ours']['torch_version']}, the PyTorch of Python "
                 f"{found['python']['torch_version']}; they must be of one release")
    if found["ours"]["trainable_parameters"] != found["python"]["trainable_parameters"]:
        sys.exit("rounds.py: the networks have different numbers of parameters: "
                 f"{found['ours']['trainable_parameters']}, {found['python']['trainable_parameters']}")


def main():
    network, batch, threads, rounds, steps, *measure_cpu = sys.argv[1:]
    if subprocess.run([sys.executable, "-c", "import torch"], check=False).returncode != 0:
        sys.exit(f"rounds.py: {sys.executable} has no PyTorch (Debian: apt install python3-torch)")
    commands = commands_of(network, batch, threads, steps)
    of_one_step = commands_of(network, batch, threads, "1")
    step_s = {"ours": [], "python": [], "tuned": []}
    cpu_s = {who: [] for who in step_s}
    gemm_flops = []
    for _ in range(int(rounds)):
        found = {}
        for who, (command, environment) in commands.items():
            found[who] = values_of(command, environment | kernels_of(who, found))
        check_equal(found)
        for who, samples in step_s.items():
            samples.append(float(found[who]["time_per_step_median_s"]))
            if not measure_cpu:
                continue
            command, environment = of_one_step[who]
            start = values_of(command, environment | kernels_of(who, found))
            cpu_s[who].append((found[who]["cpu_s"] - start["cpu_s"]) / (int(steps) - 1))
        gemm_flops.append(float(found["gemm"]["gemm_flops"]))
    print(f"parameters={found['ours']['trainable_parameters']}")
    flops = float(found["ours"]["training_flops_per_sample"]) * int(batch)
    for who, samples in step_s.items():
        print(f"{who}_s={statistics.median(samples):.5f} {who}_min_s={min(samples):.5f}"
              f" {who}_of_gemm_percent={100 * flops / statistics.median(samples) / statistics.median(gemm_flops):.1f}"
              f" {who}_first_loss={found[who]['first_loss']} {who}_final_loss={found[who]['final_loss']}")
        if measure_cpu:
            print(f"{who}_cpu_s={statistics.median(cpu_s[who]):.5f}")
    for who in ("python", "tuned"):
        for name, samples in (("ratio", step_s), *((("cpu_ratio", cpu_s),) if measure_cpu else ())):
            ratio = statistics.median(a / b for a, b in zip(samples["ours"], samples[who]))
            print(f"{name}_to_{who}={ratio:.3f}")
    print(f"gemm_gflops={statistics.median(gemm_flops) * 1e-9:.1f}")


main()
