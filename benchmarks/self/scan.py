# The patterns of outputs.yaml over every stdout file below a directory, as a plain script does it.
import pathlib
import re
import sys

integer = r"([+-]?\d+)"
real = r"([+-]?\d*\.?\d+(?:[eE][-+]?\d+)?)"
patterns = [
    re.compile(text, re.MULTILINE)
    for text in (
        f"parameters={integer}",
        f"loss={real}",
        f"rate={real} images/s",
        f"max_memory={integer} bytes",
        f"total time: {real} s",
    )
]
for file in sorted(pathlib.Path(sys.argv[1]).glob("*/work/stdout")):
    text = file.read_text()
    for pattern in patterns:
        values = [float(value) for value in pattern.findall(text)]
        summary = (min(values), max(values), sum(values) / len(values))
