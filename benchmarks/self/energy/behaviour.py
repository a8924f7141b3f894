"""Signals, exit codes, and what a killed meter leaves: behaviour.py METER RUNS

Not of the Python: there they would be of our own making.
"""

import os
import pathlib
import signal
import statistics
import sys
import time

import subjects

signal_count = 100
statuses = [["true"], ["sh", "-c", "exit 7"], ["sh", "-c", "kill -KILL $$"],
            ["sh", "-c", "kill -TERM $$"], ["./not_there"], ["./sensors"]]


def signal_delays_ms(command):
    read, write = os.pipe()
    process, _ = subjects.start(command, write)
    os.close(write)
    delays = []
    with os.fdopen(read) as stream:
        stream.readline()
        for _ in range(signal_count):
            time.sleep(0.02)
            sent_ns = time.monotonic_ns()
            os.kill(process, signal.SIGUSR1)
            delays.append((int(stream.readline()) - sent_ns) * 1e-6)
    subjects.status_of(process)
    return delays


def same_statuses():
    """How many of the statuses are those that env has, which becomes the program."""
    out = pathlib.Path("statuses").resolve()
    same = 0
    for command in statuses:
        bare = subjects.status_of(subjects.start(["env", *command])[0])
        under = subjects.status_of(subjects.start(subjects.meter(100, out, command))[0])
        same += bare == under
    return same


def lost_samples(interval_ms):
    """How many samples were due after the last one in the file and before the meter was killed."""
    out = pathlib.Path("killed").resolve()
    process, _ = subjects.start(subjects.meter(interval_ms, out, ["sleep", "2.5"]))
    time.sleep(2)
    os.kill(process, signal.SIGKILL)
    killed_unix_s = time.time()
    subjects.status_of(process)
    rows = (out / "power.csv").read_text().splitlines(keepends=True)[1:]
    times = [tuple(map(float, row.split(",")[:2])) for row in rows if row.endswith("\n")]
    killed_s = killed_unix_s - (times[-1][1] - times[-1][0])
    return sum(tick > times[-1][0] for tick in subjects.deadlines(interval_ms / 1000, killed_s))


def main():
    subjects.make_sensors()
    program = [subjects.probe, "signals", str(signal_count)]
    out = pathlib.Path("signals").resolve()
    for name, way in (("nothing", subjects.nothing), ("meter", subjects.meter)):
        delays = signal_delays_ms(way(100, out, program))
        subjects.report(name, signal_p50_ms=statistics.median(delays),
                        signal_p99_ms=subjects.quantile(delays, 0.99))
    subjects.report("meter", same_statuses=same_statuses(), statuses=len(statuses))
    for interval_ms in (10, 1):
        lost = [lost_samples(interval_ms) for _ in range(int(sys.argv[2]))]
        subjects.report("meter", **{f"lost_{1000 // interval_ms}hz": max(lost)})


main()
