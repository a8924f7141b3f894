"""What sampling costs and how regular it is: sampling.py METER RUNS SECONDS

At 100 Hz and at 1 kHz, 16 sensors each: a loop that only wakes up, the smallest one that reads them,
the meter, and Python. CPU time is that of all threads of the wrapper while it samples, without its
start and its end; on an idle node, where each waking is one of the processor, too, and beside
programs that compute on every core.
"""

import bisect
import contextlib
import csv
import os
import pathlib
import signal
import statistics
import sys
import time

import subjects

settle_s = 0.7  # Python needs as long to start


def processes_of(process):
    found = [process]
    for task in pathlib.Path(f"/proc/{process}/task").iterdir():
        for child in (task / "children").read_text().split():
            found += processes_of(int(child))
    return found


def cpu_s(processes):
    """CPU time so far, from the scheduler, which counts nanoseconds."""
    return sum(int((task / "schedstat").read_text().split()[0]) * 1e-9
               for process in processes for task in pathlib.Path(f"/proc/{process}/task").iterdir())


def resident_kib(processes):
    """Of the largest process."""
    sizes = []
    for process in processes:
        for line in pathlib.Path(f"/proc/{process}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                sizes.append(int(line.split()[1]))
    return max(sizes)


def observe(command, seconds):
    process, _ = subjects.start(command)
    time.sleep(settle_s)
    processes = processes_of(process)
    before, begin = (cpu_s(processes), resident_kib(processes)), time.monotonic()
    time.sleep(seconds)
    after, end = (cpu_s(processes), resident_kib(processes)), time.monotonic()
    if subjects.status_of(process) != 0:
        sys.exit(f"failed: {' '.join(command)}")
    return {"cpu_percent": 100 * (after[0] - before[0]) / (end - begin),
            "rss_mib": after[1] / 1024,
            "growth_kib_per_s": (after[1] - before[1]) / (end - begin)}


def column(file, name):
    with open(file, newline="") as stream:
        return [float(row[name]) for row in csv.DictReader(stream)]


def planned(subject, times, interval_s):
    """The gaps that the subject was to keep between these times, and how many."""
    if subject != "meter":
        return [interval_s] * (len(times) - 1), (times[-1] - times[0]) / interval_s
    ticks = subjects.deadlines(interval_s, times[-1])
    met = [ticks[bisect.bisect_right(ticks, time_s) - 1] for time_s in times]
    return [later - earlier for earlier, later in zip(met, met[1:])], len(ticks) - 1


def regularity(subject, runs, interval_s):
    gaps, errors, rows, due = [], [], 0, 0.0
    for times in runs:
        new = [later - earlier for earlier, later in zip(times, times[1:])]
        gaps += new
        wanted, count = planned(subject, times, interval_s)
        errors += [abs(gap - want) for gap, want in zip(new, wanted)]
        rows, due = rows + len(new), due + count
    return {"gap_min": min(gaps) / interval_s,
            "gap_p50": statistics.median(gaps) / interval_s,
            "gap_p99": subjects.quantile(gaps, 0.99) / interval_s,
            "gap_max": max(gaps) / interval_s,
            "error_p99_ms": subjects.quantile(errors, 0.99) * 1e3,
            "rate_percent": 100 * rows / due}


@contextlib.contextmanager
def every_core_busy():
    processes = [subjects.start(["sh", "-c", "while :; do :; done"])[0]
                 for _ in os.sched_getaffinity(0)]
    try:
        yield
    finally:
        for process in processes:
            os.kill(process, signal.SIGKILL)
            subjects.status_of(process)


def commands_of(interval_ms, seconds):
    pause = ["sleep", str(settle_s + seconds + 0.3)]
    out = {name: pathlib.Path(f"sampling_{name}").resolve() for name in ("meter", "python")}
    def smallest(name, sensors):
        return [subjects.probe, "sample", str(sensors), str(interval_ms * 1_000_000), pause[1],
                f"{name}.txt"]

    return out, {
        "nothing": smallest("nothing", "none"),
        "floor": smallest("floor", subjects.meters),
        "meter": subjects.meter(interval_ms, out["meter"], pause),
        "python": subjects.python(interval_ms, out["python"], pause),
    }


def measure_busy(interval_ms, runs, seconds):
    _, commands = commands_of(interval_ms, seconds)
    del commands["python"]
    costs = {}
    with every_core_busy():
        for _ in range(runs):
            for name, command in commands.items():
                costs.setdefault(name, []).append(observe(command, seconds)["cpu_percent"])
    for name, percents in costs.items():
        subjects.report(name, **{f"busy_cpu_percent_{1000 // interval_ms}hz":
                                 statistics.median(percents)})


def measure(interval_ms, runs, seconds):
    out, commands = commands_of(interval_ms, seconds)
    costs, times, overruns = {}, {}, 0
    for _ in range(runs):
        for name, command in commands.items():
            costs.setdefault(name, []).append(observe(command, seconds))
            times.setdefault(name, []).append(
                [float(line) for line in open(f"{name}.txt")] if name in ("nothing", "floor")
                else column(out[name] / "power.csv", "time_s" if name == "meter" else "timestamps"))
        overruns += int(max(column(out["meter"] / "energy.csv", "overruns")[:1]))
    for name in commands:
        figures = {key: statistics.median(cost[key] for cost in costs[name])
                   for key in costs[name][0]}
        figures |= regularity(name, times[name], interval_ms / 1000)
        if name == "meter":
            figures["overruns"] = overruns
        subjects.report(name, **{f"{key}_{1000 // interval_ms}hz": value
                                 for key, value in figures.items()})


def main():
    if os.sched_getscheduler(0) in (os.SCHED_FIFO, os.SCHED_RR):
        sys.exit("not with a real-time priority: loops that keep every core busy inherit it")
    subjects.make_sensors()
    for interval_ms in (10, 1):
        measure(interval_ms, int(sys.argv[2]), float(sys.argv[3]))
        measure_busy(interval_ms, int(sys.argv[2]), float(sys.argv[3]))


main()
