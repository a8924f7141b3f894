#!/usr/bin/env python3
"""A meter in Python as jpwr 0.0.8 is built: sampler.py METERS INTERVAL_MS DIRECTORY COMMAND ...

METERS is a directory with hwmonN/. A second process reads label and power of each of them into
lists, while this one waits for the command; then power.csv and energy.csv (Wh, every reading holds
since the one before it) are written, with pandas where it is installed. As in jpwr the time of the
last round is taken before the pause, so that every second pause is none.
"""

import csv
import glob
import multiprocessing
import os
import subprocess
import sys
import time

try:
    import pandas
except ImportError:
    pandas = None


def text_of(file):
    with open(file) as stream:
        return stream.read().strip()


def sample(meters, interval_s, stop, results):
    table = {"timestamps": []}
    last = time.time()
    while not stop.is_set():
        now = time.time()
        pause = interval_s - (now - last)
        last = now
        if pause > 0:
            time.sleep(pause)
        for meter in meters:
            label = text_of(meter + "/device/power1_oem_info")
            power_w = int(text_of(meter + "/device/power1_average")) * 1e-6
            table.setdefault(label, []).append(power_w)
        table["timestamps"].append(time.time())
    results.put(table)


def write(table, directory):
    os.makedirs(directory, exist_ok=True)
    times = table["timestamps"]
    energies = {
        label: sum(p * (t - before) for p, t, before in zip(powers[1:], times[1:], times)) / 3600
        for label, powers in table.items() if label != "timestamps"
    }
    if pandas:
        pandas.DataFrame(table).to_csv(directory + "/power.csv")
        pandas.Series(energies).to_csv(directory + "/energy.csv")
        return
    with open(directory + "/power.csv", "w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["", *table])
        writer.writerows([number, *row] for number, row in enumerate(zip(*table.values())))
    with open(directory + "/energy.csv", "w", newline="") as stream:
        csv.writer(stream).writerows([["", 0], *energies.items()])


def main():
    meters = sorted(glob.glob(sys.argv[1] + "/hwmon*"))
    stop, results = multiprocessing.Event(), multiprocessing.Queue()
    sampler = multiprocessing.Process(
        target=sample, args=(meters, float(sys.argv[2]) / 1000, stop, results))
    sampler.start()
    subprocess.run(sys.argv[4:])
    stop.set()
    table = results.get()
    sampler.join()
    write(table, sys.argv[3])


main()
