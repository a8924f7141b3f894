"""How far the energy is from that of a known wave: accuracy.py METER RUNS

The program writes the wave into the first sensor's file and adds up its energy by its own clock.
"""

import csv
import pathlib
import statistics
import sys

import subjects

joules_per_wh = 3600
# Half period (0: constant) and duration in s, interval in ms, runs (0: as asked for).
waves = {
    "constant": (0, 2, 10, 0),
    "short": (0, 0.5, 10, 0),
    "square": (1, 4, 10, 0),
    "resonant": (0.05, 20, 100, 1),
}


def energy_j(file, row, column):
    with open(file, newline="") as stream:
        rows = list(csv.reader(stream))
    where = rows[0].index(column)
    return joules_per_wh * next(float(cells[where]) for cells in rows if cells[0] == row)


def main():
    subjects.make_sensors()
    sensor = subjects.meters / "hwmon0" / "device" / "power1_average"
    ways = {"meter": (subjects.meter, "hwmon:0:module", "energy_wh"),
            "python": (subjects.python, "Module Power Socket 0", "0")}
    for wave, (half_period_s, duration_s, interval_ms, runs) in waves.items():
        program = [subjects.probe, "wave", str(sensor), "300", "100", str(half_period_s),
                   str(duration_s)]
        errors = {name: [] for name in ways}
        for _ in range(runs or int(sys.argv[2])):
            for name, (way, row, column) in ways.items():
                out = pathlib.Path(f"accuracy_{name}").resolve()
                exact_j = float(subjects.output_of(way(interval_ms, out, program)))
                measured_j = energy_j(out / "energy.csv", row, column)
                errors[name].append(100 * (measured_j / exact_j - 1))
        for name, percent in errors.items():
            subjects.report(name, **{f"{wave}_percent": statistics.median(percent),
                                     f"{wave}_worst_percent": max(percent, key=abs)})


main()
