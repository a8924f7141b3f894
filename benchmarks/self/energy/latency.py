"""What a wrapper adds before a program starts and after it has ended: latency.py METER RUNS

Each round runs a program that tells its first and its last moment bare, under the smallest wrapper,
under the meter (100 ms, 16 sensors, a new directory each time), under the meter as the second rank of
a node, whose first rank measures, and under Python. The first round is not counted.
"""

import os
import pathlib
import shutil
import signal
import statistics
import sys
import time
from importlib.util import find_spec

import subjects


def run_once(command, environment):
    read, write = os.pipe()
    process, begin_ns = subjects.start(command, write, environment)
    os.close(write)
    status = subjects.status_of(process)
    end_ns = time.monotonic_ns()
    with os.fdopen(read) as stream:
        first_ns, last_ns = map(int, stream.read().split())
    if status != 0:
        sys.exit(f"exit {status}: {' '.join(command)}")
    return (first_ns - begin_ns) * 1e-6, (end_ns - last_ns) * 1e-6


def measure(environment):
    program = [subjects.probe, "stamp"]
    rank_environment = environment | {"SLURM_LOCALID": "1"}
    times_ms = {}
    for number in range(int(sys.argv[2]) + 1):
        out = pathlib.Path(f"latency/{number}").resolve()
        for name, command, its_environment in (
                ("nothing", program, environment),
                ("floor", [subjects.probe, "run", *program], environment),
                ("meter", subjects.meter(100, out, program), environment),
                ("rank", subjects.meter(100, out, program), rank_environment),
                ("python", subjects.python(100, out, program), environment)):
            took_ms = run_once(command, its_environment)
            if number > 0:
                times_ms.setdefault(name, []).append(took_ms)
    return times_ms


def main():
    subjects.make_sensors()
    environment = {name: value for name, value in os.environ.items() if "LOCAL" not in name}
    first_rank, _ = subjects.start(
        subjects.meter(100, pathlib.Path("first_rank").resolve(), ["sleep", "3600"]),
        environment=environment | {"SLURM_LOCALID": "0"})
    try:
        times_ms = measure(environment)
    finally:
        os.kill(first_rank, signal.SIGTERM)
        subjects.status_of(first_rank)
    start_ms = {name: [start for start, _ in times] for name, times in times_ms.items()}
    end_ms = {name: [end for _, end in times] for name, times in times_ms.items()}
    bare_start_ms = statistics.median(start_ms["nothing"])
    bare_end_ms = statistics.median(end_ms["nothing"])
    subjects.report("nothing", bare_start_ms=bare_start_ms, bare_end_ms=bare_end_ms)
    for name in times_ms:
        subjects.report(name,
                        start_p50_ms=statistics.median(start_ms[name]) - bare_start_ms,
                        start_p99_ms=subjects.quantile(start_ms[name], 0.99) - bare_start_ms,
                        start_min_ms=min(start_ms[name]) - min(start_ms["nothing"]),
                        end_p50_ms=statistics.median(end_ms[name]) - bare_end_ms,
                        end_p99_ms=subjects.quantile(end_ms[name], 0.99) - bare_end_ms)
    size = os.stat(shutil.which(sys.argv[1])).st_size
    subjects.report("meter", binary_mib=size / 2**20)
    subjects.report("python", pandas="no" if find_spec("pandas") is None else "yes")


main()
