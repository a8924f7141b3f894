"""What a heatmap cost and found: summary.py HEATMAP_CSV."""

import csv
import sys
from collections import defaultdict

values, node_hours = defaultdict(list), 0.0
for row in csv.DictReader(open(sys.argv[1])):
    if row["node_hours[h]"]:
        node_hours += float(row["node_hours[h]"])
    if row["images_per_second[1/s]"]:
        values[int(row["devices"]), int(row["batch_size"])].append(float(row["images_per_second[1/s]"]))
frontier, best = {}, {}
for (devices, batch_size), rates in values.items():
    frontier[devices] = max(frontier.get(devices, 0), batch_size)
    best[devices] = max(best.get(devices, (0, 0)), (sum(rates) / len(rates), batch_size))
print(f"runs={sum(map(len, values.values()))} node_hours={node_hours:.2f}")
print("largest=" + "-".join(str(frontier[devices]) for devices in sorted(frontier)))
print("best=" + "-".join(str(best[devices][1]) for devices in sorted(best)))
