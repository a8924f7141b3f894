#!/usr/bin/env python3
"""A private Slurm for tests: many nodes on this machine, gone when this program ends.

    cluster.py DIRECTORY [LAYOUT] [NAME=VALUE...]

makes DIRECTORY (which must not exist), brings a cluster up in it, says `ready`, and then takes one
command per line, each answered by `ok` or `error: ...`:

    stop-controller [SIGNAL]    TERM if nothing else is said
    start-controller
    kill-node NAME [SIGNAL]     KILL if nothing else is said
    start-node NAME

At the end of its input, or at a signal, it ends every process of the cluster and removes DIRECTORY.
So a test that holds the other end of a pipe cannot leave anything behind, however it ends. By hand:
start it in one terminal, export SLURM_CONF=DIRECTORY/slurm.conf in another, end it with Ctrl-D.

LAYOUT is one of layout.py's; NAME=VALUE are further lines of slurm.conf. Needs no root, no munge,
no free port in particular: any number of clusters run side by side.
"""

import ctypes
import getpass
import os
import random
import select
import shutil
import signal
import socket
import subprocess
import sys
import time

sys.dont_write_bytecode = True  # the source tree stays as it is
import layout as layouts  # noqa: E402

PATIENCE_S = 20
PORTS_PER_CLUSTER = 64
FIRST_PORT, LAST_PORT = 10000, 32000  # below those that Linux hands out by itself


class Failure(Exception):
    """What a user of this program is to read."""


def reserve_ports():
    """A range of ports that nobody listens at, and what keeps other clusters off it: a name in the
    kernel, which goes with this process and needs no file."""
    starts = list(range(FIRST_PORT, LAST_PORT, PORTS_PER_CLUSTER))
    random.shuffle(starts)
    for start in starts:
        reservation = socket.socket(socket.AF_UNIX)
        try:
            reservation.bind(f"\0bench-slurm-test-{start}")
        except OSError:
            continue
        if all(is_free(start + k) for k in range(PORTS_PER_CLUSTER)):
            return start, reservation
    raise Failure("no free ports")


def is_free(port):
    with socket.socket() as probe:
        try:
            probe.bind(("", port))
        except OSError:
            return False
    return True


def clean_environment():
    """Without what a job that the tests run in, or this shell, would tell Slurm's programs; with the
    daemons' directory on PATH, which ordinary users do not have there."""
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(("SLURM_", "SBATCH_", "SQUEUE_", "SINFO_"))}
    return kept | {"PATH": os.environ.get("PATH", "/usr/bin:/bin") + ":/usr/sbin:/usr/local/sbin"}


def adopt_orphans():
    """Daemons and the processes of jobs leave their parents; make them this process's children
    then, so that it can find, end and reap them all (prctl(2), PR_SET_CHILD_SUBREAPER)."""
    if ctypes.CDLL(None, use_errno=True).prctl(36, 1, 0, 0, 0) != 0:
        raise Failure("cannot become a subreaper")


def descendants():
    """All processes below this one, zombies left out."""
    children = {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as stat:
                state, parent = stat.read().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if state != "Z":
            children.setdefault(int(parent), []).append(int(entry))
    found, left = [], [os.getpid()]
    while left:
        below = children.get(left.pop(), [])
        found += below
        left += below
    return found


def reap():
    """Takes note of children that ended. Returns their ids."""
    ended = set()
    try:
        while (pid := os.waitpid(-1, os.WNOHANG)[0]) != 0:
            ended.add(pid)
    except ChildProcessError:
        pass
    return ended


def wait_until(condition, what):
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > deadline:
            raise Failure(f"{what} within {PATIENCE_S} s")
        time.sleep(0.02)


class Cluster:
    """The daemons, each a child of this process that stays in the foreground."""

    def __init__(self, directory, layout, extra):
        self.directory = directory
        self.conf = f"{directory}/slurm.conf"
        self.nodes = [name for name, _ in layouts.nodes(layout)]
        self.environment = clean_environment() | {"SLURM_CONF": self.conf}
        self.daemons = {}
        port, self.reservation = reserve_ports()
        for name in ["state", "log", "pid", "device"] + [f"spool/{name}" for name in self.nodes]:
            os.makedirs(f"{directory}/{name}")
        for k in range(8):
            os.symlink("/dev/null", f"{directory}/device/gpu{k}")
        with open(self.conf, "w", encoding="utf-8") as file:
            file.write(layouts.slurm_conf(layout, directory, socket.gethostname().split(".")[0],
                                          getpass.getuser(), port,
                                          # What is kept by job on a machine is of one cluster.
                                          "\n".join([f"FirstJobId={port}", *extra])))
        with open(f"{directory}/gres.conf", "w", encoding="utf-8") as file:
            file.write(layouts.gres_conf(layout, directory))
        # As it starts, slurmd looks for cgroups that nothing here uses; with v1 it does without.
        with open(f"{directory}/cgroup.conf", "w", encoding="utf-8") as file:
            file.write("CgroupPlugin=cgroup/v1\n")

    def up(self):
        # First the controller: a node that does not find it tries again only after a second.
        self.start_controller()
        for name in self.nodes:
            self.start_node(name)
        wait_until(self.all_idle, "not all nodes were idle")

    def all_idle(self):
        self.note_the_dead()
        lost = {"controller", *self.nodes} - self.daemons.keys()
        if lost:
            raise Failure(f"{lost.pop()} did not start")
        listing = self.ask("sinfo", "-h", "-N", "-o", "%N %T").splitlines()
        return {f"{name} idle" for name in self.nodes} == set(listing)

    def ask(self, *arguments):
        """The output of one of Slurm's programs, empty if it fails."""
        return subprocess.run(arguments, env=self.environment, text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout

    def start(self, name, *arguments):
        if name in self.daemons:
            raise Failure(f"{name} runs already")
        program = shutil.which(arguments[0], path=self.environment["PATH"])
        if not program:
            raise Failure(f"{arguments[0]} is not installed")
        self.daemons[name] = subprocess.Popen(  # pylint: disable=consider-using-with
            [program, *arguments[1:]], env=self.environment, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).pid

    def stop(self, name, number):
        if name not in self.daemons:
            raise Failure(f"{name} does not run")
        os.kill(self.daemons[name], number)
        wait_until(lambda: self.note_the_dead() or name not in self.daemons, f"{name} did not end")

    def start_controller(self):
        self.start("controller", "slurmctld", "-D", "-f", self.conf)
        wait_until(self.controller_is_up, "the controller did not answer")

    def controller_is_up(self):
        self.note_the_dead()
        if "controller" not in self.daemons:
            raise Failure("the controller did not start")
        return " is UP" in self.ask("scontrol", "ping")

    def start_node(self, name):
        self.start(name, "slurmd", "-D", "-f", self.conf, "-N", name)

    def note_the_dead(self):
        ended = reap()
        self.daemons = {name: pid for name, pid in self.daemons.items() if pid not in ended}

    def obey(self, line):
        command, *words = line.split()
        if command == "stop-controller":
            self.stop("controller", number_of(words[0] if words else "TERM"))
        elif command == "start-controller":
            self.start_controller()
        elif command == "kill-node":
            self.stop(words[0], number_of(words[1] if len(words) > 1 else "KILL"))
        elif command == "start-node":
            self.start_node(words[0])
        else:
            raise Failure(f"no such command: {command}")

    def down(self):
        deadline = time.monotonic() + PATIENCE_S
        while (left := descendants()) and time.monotonic() < deadline:
            for pid in left:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            reap()
            time.sleep(0.01)
        shutil.rmtree(self.directory, ignore_errors=True)


def number_of(name):
    try:
        return signal.Signals[f"SIG{name}"]
    except KeyError:
        raise Failure(f"no such signal: {name}") from None


def serve(cluster):
    """Obeys commands until the input ends, and reaps what ends meanwhile."""
    waiting = b""
    while True:
        cluster.note_the_dead()
        if not select.select([0], [], [], 0.2)[0]:
            continue
        received = os.read(0, 4096)
        if not received:
            return
        *lines, waiting = (waiting + received).split(b"\n")
        for line in filter(None, (line.decode().strip() for line in lines)):
            try:
                cluster.obey(line)
                print("ok", flush=True)
            except (Failure, IndexError, OSError) as failure:
                print(f"error: {failure}", flush=True)


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    directory, *rest = sys.argv[1:]
    extra = [word for word in rest if "=" in word]
    layout = next((word for word in rest if "=" not in word), "plain")
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(1))
    if layout not in layouts.LAYOUTS:
        sys.exit(f"error: no such layout: {layout}")
    if os.path.exists(directory):
        sys.exit(f"error: {directory} exists")
    adopt_orphans()
    cluster = Cluster(os.path.abspath(directory), layout, extra)
    try:
        cluster.up()
        print("ready", flush=True)
        serve(cluster)
    except Failure as failure:
        sys.exit(f"error: {failure}")
    finally:
        cluster.down()


if __name__ == "__main__":
    main()
