"""One training run on a simulated node: node.py DEVICES BATCH_SIZE ITERATION.

An epoch of ImageNet after a minute of start. Throughput saturates with the batch size per device and
scatters by 1 %; 512 images per device fit into memory.
SEED is in the environment.
"""

import os
import random
import sys

devices, batch_size, iteration = map(int, sys.argv[1:])
per_device = batch_size / devices
start_h = 1 / 60
if per_device > 512:
    print(f"node_hours={start_h}")
    sys.exit("out of memory")
noise = random.Random(f"{os.environ['SEED']} {devices} {batch_size} {iteration}").gauss(1, 0.01)
images_per_second = devices * 2500 * per_device / (per_device + 30) * noise
print(f"images_per_second={images_per_second:.2f}")
print(f"node_hours={start_h + 1281167 / images_per_second / 3600}")
