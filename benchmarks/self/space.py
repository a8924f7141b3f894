# The expressions of space.yaml, each evaluated from its text: the least that any program can do that
# gives them to Python one by one.
import itertools

ten = range(1, 11)
for nodes, size, layers, seed, repeat in itertools.product(ten, range(16, 161, 16), ten, ten, ten):
    tasks = str(eval(f"{nodes} * 4"))
    cells = str(eval(f"{size} ** 3 + 100 * {layers} + {seed}"))
    share = str(eval(f"{cells} / {tasks} + {repeat}"))
