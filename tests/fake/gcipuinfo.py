"""A gcipuinfo for tests: what Graphcore's module answers, with power as a known function of time.

Read at construction, from the environment:
  FAKE_GCIPU_BOARD   m2000: IPU i of 4 draws 100 W + 10 W * i (the default)
                     c600: one card with one IPU, which never tells its own power
                     c2: one card with two IPUs, and a board power of 20 W more than theirs
  FAKE_GCIPU_RAMP    a time in Unix seconds: every IPU draws 50 W/s more for each second since
  FAKE_GCIPU_IDLE    the index of an IPU whose power is N/A
  FAKE_GCIPU_FAIL    `none`: there are no devices; `late`: getDevices fails from the fourth time on
As in the real one, values stay those of the construction unless the update mode is on.
"""

import os
import time

DiscoverActivePartitionIPUs = 0
IpuPower = "ipu power"


def _ipus(board):
    count = {"m2000": 4, "c600": 1, "c2": 2}[board]
    ramp_start = os.environ.get("FAKE_GCIPU_RAMP")
    rise_w = 50 * (time.time() - float(ramp_start)) if ramp_start else 0
    return [100 + 10 * i + rise_w for i in range(count)]


def _devices():
    if os.environ.get("FAKE_GCIPU_FAIL") == "none":
        return []
    board = os.environ.get("FAKE_GCIPU_BOARD", "m2000")
    powers = _ipus(board)
    devices = []
    for i, power in enumerate(powers):
        device = {
            "id": str(i),
            "board type": board.upper(),
            "board serial number": "0131.0002.8204521",
            "board ipu index": str(len(powers) - 1 - i),
            "clock": "1330MHz",
            IpuPower: "%.2fW" % power,
        }
        if board == "c600" or os.environ.get("FAKE_GCIPU_IDLE") == str(i):
            device[IpuPower] = "N/A"
        if board != "m2000":
            device["total board power"] = "%.1f W" % (sum(powers) + 20)
        devices.append(device)
    return devices


class gcipuinfo:
    def __init__(self, mode=DiscoverActivePartitionIPUs):
        self._update = False
        self._calls = 0
        self._devices = _devices()

    def setUpdateMode(self, update):
        self._update = update

    def getDevices(self):
        self._calls += 1
        if os.environ.get("FAKE_GCIPU_FAIL") == "late" and self._calls > 3:
            raise RuntimeError("device discovery failed")
        if self._update:
            self._devices = _devices()
        return self._devices
