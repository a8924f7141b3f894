"""What the measurements of the meter share: fake sensors, and the ways to run a program."""

import math
import os
import pathlib
import shutil
import sys
import time

here = pathlib.Path(__file__).resolve().parent
probe = str(here / "probe")
tree = pathlib.Path.cwd() / "sensors"
meters = tree / "class" / "hwmon"
rails = ("Module Power Socket", "Grace Power Socket", "CPU Power Socket", "SysIO Power Socket")


def make_sensors():
    """16 power meters as the firmware of four Grace CPUs shows them, at 100 W."""
    names = [f"{rail} {socket}" for socket in range(4) for rail in rails]
    for number, name in enumerate(names):
        directory = meters / f"hwmon{number}" / "device"
        directory.mkdir(parents=True, exist_ok=True)
        (directory / "power1_average").write_text("100000000\n")
        (directory / "power1_oem_info").write_text(name + "\n")


def nothing(interval_ms, out, command):
    return command


def meter(interval_ms, out, command):
    program = shutil.which(sys.argv[1])
    return [program, "--method", "hwmon", "--sysfs-root", str(tree), "--interval",
            f"{interval_ms}ms", "--out", str(out), "--", *command]


def python(interval_ms, out, command):
    return [sys.executable, str(here / "sampler.py"), str(meters), str(interval_ms), str(out),
            *command]


def start(command, stdout=None, environment=os.environ):
    """Starts a command, silently; returns its process and when it was started, in ns."""
    null = os.open(os.devnull, os.O_RDWR)
    actions = [(os.POSIX_SPAWN_DUP2, null if stdout is None else stdout, 1),
               (os.POSIX_SPAWN_DUP2, null, 2)]
    begin_ns = time.monotonic_ns()
    process = os.posix_spawnp(command[0], command, environment, file_actions=actions)
    os.close(null)
    return process, begin_ns


def status_of(process):
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def output_of(command):
    """Runs a command that must succeed and prints little; returns what it printed."""
    read, write = os.pipe()
    process, _ = start(command, write)
    os.close(write)
    with os.fdopen(read) as stream:
        text = stream.read()
    if status_of(process) != 0:
        sys.exit(f"{sys.argv[0]}: failed: {' '.join(command)}")
    return text


def quantile(values, share):
    """The smallest value that so large a share does not exceed."""
    return sorted(values)[max(math.ceil(share * len(values)), 1) - 1]


def deadlines(interval_s, seconds):
    """The times at which the meter shall sample, in seconds from its start."""
    text = output_of([str(here / "deadlines"), str(round(interval_s * 1e9)), str(seconds)])
    return [float(line) for line in text.splitlines()]


def report(subject, **figures):
    for name, value in figures.items():
        print(subject, f"{name}={value:.5g}" if isinstance(value, float) else f"{name}={value}")
    sys.stdout.flush()
