"""Which nodes and partitions a test's cluster has, and the configuration files that say so."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Shape:
    """Nodes alike: how many, what is in each, and the partitions that have them."""

    name: str
    partitions: str
    count: int
    sockets: int
    cores_per_socket: int
    threads_per_core: int
    memory_mb: int
    gpus: str = ""  # as Slurm writes it, "4" or "a100:4"; empty: Slurm knows of none
    features: str = ""
    amd: bool = False


# For tests of the engine: small, and no machine in particular.
PLAIN = [Shape("plain", "fx low lowcancel", 4, 1, 16, 1, 64000, "4")]

# One node at least of every machine that platforms/ has a Slurm file for, in partitions of the
# names used there. Machines that share a partition's name here share the partition, and a job goes
# where it fits; machines with equal nodes share those. Where it is not known whether a machine
# shows hardware threads, it shows the number of CPUs that leaves more room.
MACHINES = [
    Shape("jwb", "booster develbooster", 2, 2, 24, 2, 500000, "4"),
    Shape("jupiter", "booster all", 1, 4, 72, 1, 480000, "4"),  # and JEDI
    Shape("jwc", "gpus develgpus", 1, 2, 20, 2, 190000, "4"),
    Shape("a100", "dc-gpu dc-gpu-devel", 1, 2, 64, 2, 500000, "4"),
    Shape("gh200", "dc-gh t-gpu-gh200", 1, 1, 72, 1, 500000, "1"),
    Shape("h100", "dc-h100 a-gpu-h100", 1, 2, 36, 2, 500000, "4"),
    Shape("waih100", "dc-hwai dc-wai", 1, 2, 32, 2, 500000, "4"),
    Shape("mi250", "dc-mi200", 1, 2, 24, 2, 500000),
    Shape("gc200", "dc-ipu", 1, 2, 24, 2, 500000),
    Shape("e4-a2", "i-gpu-a2", 1, 2, 16, 2, 1000000, "2"),
    Shape("lumi", "standard-g small-g dev-g", 2, 1, 64, 2, 480000, "8", amd=True),
    Shape("leonardo", "boost_usr_prod", 1, 1, 32, 1, 494000, "4"),
    Shape("marenostrum", "acc", 1, 2, 40, 2, 500000, "4"),
    Shape("vega", "gpu", 1, 2, 64, 2, 500000, "4"),  # and MeluXina
    Shape("hal", "gpu", 1, 2, 20, 4, 250000, "v100:4"),
    Shape("karolina", "qgpu qgpu_exp", 1, 2, 64, 1, 980000, "8"),
    Shape("discoverer", "common", 1, 2, 56, 2, 1960000, "8"),
    Shape("deucalion", "normal-a100-40 normal-a100-80 dev-a100-40 dev-a100-80", 1, 2, 64, 1, 500000,
          "a100:4"),
    Shape("daint", "normal", 1, 1, 12, 2, 64000, "1", "gpu"),
    Shape("cori-knl", "regular", 1, 1, 68, 4, 96000, "", "knl"),
    Shape("cori-gpu", "regular", 1, 2, 20, 2, 384000, "8", "gpu"),
    Shape("frontera", "rtx rtx-dev", 1, 2, 8, 2, 128000),
    Shape("mi300x", "regular", 1, 2, 48, 2, 2300000),
    Shape("mi300a", "regular", 1, 4, 24, 2, 500000),
]

LAYOUTS = {"plain": PLAIN, "machines": PLAIN + MACHINES}

# What a job gets in a partition that asks for nothing, and that which makes it special. A job of
# `fx` drives out one of `low`, which is put back into the queue, or of `lowcancel`, which is ended.
SPECIAL = {
    "fx": "Default=YES PriorityTier=10",
    "low": "PriorityTier=1 PreemptMode=REQUEUE",
    "lowcancel": "PriorityTier=1 PreemptMode=CANCEL",
    "standard-g": "OverSubscribe=EXCLUSIVE",
}


def nodes(layout):
    """The names of all nodes, with their shapes: v1, v2, ... in order."""
    named = []
    for shape in LAYOUTS[layout]:
        named += [(f"v{len(named) + k + 1}", shape) for k in range(shape.count)]
    return named


def _node_line(name, shape, host, port):
    line = (f"NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port}"
            f" Sockets={shape.sockets} CoresPerSocket={shape.cores_per_socket}"
            f" ThreadsPerCore={shape.threads_per_core} RealMemory={shape.memory_mb}")
    if shape.gpus:
        line += f" Gres=gpu:{shape.gpus}"
    features = ",".join(filter(None, [shape.name, shape.features]))
    return f"{line} Feature={features} State=UNKNOWN\n"


def _partition_lines(layout):
    members = {}
    for name, shape in nodes(layout):
        for partition in shape.partitions.split():
            members.setdefault(partition, []).append(name)
    if "regular" in members:  # jobs of Cori and the MI300s name no partition
        default = "regular"
    else:
        default = "fx"
    text = ""
    for partition, names in members.items():
        special = SPECIAL.get(partition, "PriorityTier=10").replace("Default=YES ", "")
        text += (f"PartitionName={partition} Nodes={','.join(names)} State=UP DefaultTime=10"
                 f" MaxTime=INFINITE DefMemPerCPU=100 {special}"
                 f"{' Default=YES' if partition == default else ''}\n")
    return text


def slurm_conf(layout, directory, host, user, port, extra):
    """No munge, no systemd, no cgroups, no root; the controller listens at `port`, the nodes
    after it. Slurm looks for work every second, so that a test need not wait for it."""
    text = f"""\
ClusterName=fx
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/none
CredType=cred/none
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=1,sched_interval=1,sched_min_interval=0,batch_sched_delay=0
ReturnToService=2
SlurmdTimeout=10
SlurmctldTimeout=10
KillWait=2
MinJobAge=3600
MaxArraySize=1001
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
JobCompType=jobcomp/none
StateSaveLocation={directory}/state
SlurmdSpoolDir={directory}/spool/%n
SlurmctldPidFile={directory}/pid/controller
SlurmdPidFile={directory}/pid/%n
SlurmctldLogFile={directory}/log/controller
SlurmdLogFile={directory}/log/%n
SlurmdParameters=config_overrides
GresTypes=gpu
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
{extra}
"""
    for number, (name, shape) in enumerate(nodes(layout)):
        text += _node_line(name, shape, host, port + 1 + number)
    return text + _partition_lines(layout)


def gres_conf(layout, directory):
    """GPUs need device files; links to /dev/null will do. With only a count, or with plain files,
    Slurm 22.05 finds no GPUs."""
    text = ""
    for name, shape in nodes(layout):
        if not shape.gpus:
            continue
        kind, _, count = shape.gpus.rpartition(":")
        text += f"NodeName={name} Name=gpu"
        if kind:
            text += f" Type={kind}"
        last = int(count) - 1
        text += f" File={directory}/device/gpu{f'[0-{last}]' if last else '0'}"
        text += f" Flags={'amd' if shape.amd else 'nvidia'}_gpu_env\n"
    return text
