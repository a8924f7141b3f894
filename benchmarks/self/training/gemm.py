"""The most that products of matrices reach here, by the BLAS that training uses: gemm.py THREADS"""

import sys
import time

import torch

side = 1536
torch.set_num_threads(int(sys.argv[1]))
a, b, c = torch.randn(3, side, side)
shortest_s = float("inf")
for _ in range(12):
    begin = time.perf_counter()
    torch.mm(a, b, out=c)
    shortest_s = min(shortest_s, time.perf_counter() - begin)
print(f"gemm_flops={2 * side**3 / shortest_s:.6g}")
