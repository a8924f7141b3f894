#!/usr/bin/env python3
"""Stands in for the programs of a batch system other than Slurm.

Called by the name of the program (bsub, qstat, pjdel, ...). FAKE_BATCH_KIND names the system,
FAKE_BATCH_DIR the directory that holds one file per job: name, state, process. Jobs run at once;
those whose name stands in the file `hold` wait until they are deleted."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

KIND = os.environ["FAKE_BATCH_KIND"]
QUEUE = Path(os.environ["FAKE_BATCH_DIR"])
DIRECTIVES = {"pbs": r"#PBS -N (\S+)", "lsf": r"#BSUB -J (\S+)", "pjm": r"#PJM -N (\S+)",
              "uge": r"#\$ -N (\S+)", "cobalt": r"#COBALT --jobname (\S+)", "flux": r"#flux: --job-name=(\S+)"}
WORDS = {"pbs": {"wait": "Q", "run": "R", "end": "F"},
         "lsf": {"wait": "PEND", "run": "RUN", "end": "EXIT"},
         "pjm": {"wait": "QUE", "run": "RUN", "end": "EXT"},
         "uge": {"wait": "qw", "run": "r"},
         "cobalt": {"wait": "queued", "run": "running"},
         "flux": {"wait": "SCHED|", "run": "RUN|", "end": "INACTIVE|COMPLETED"}}


def write(job, name, state, process):
    draft = QUEUE / f".{job}"
    draft.write_text(f"{name} {state} {process}")
    draft.rename(QUEUE / str(job))


def submit(script):
    text = Path(script).read_text() if script else sys.stdin.read()
    name = re.search(DIRECTIVES[KIND], text).group(1)
    job = 100 + len([entry for entry in QUEUE.iterdir() if entry.name.isdigit()])
    if (QUEUE / "hold").exists():
        write(job, name, "wait", 0)
        return job
    write(job, name, "run", 0)
    if os.fork() == 0:
        os.setsid()
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(null, stream)
        process = subprocess.Popen(["bash", "-s"], stdin=subprocess.PIPE)
        write(job, name, "run", process.pid)
        process.communicate(text.encode())
        write(job, name, "end", 0)
        os._exit(0)
    return job


def jobs():
    for entry in sorted(QUEUE.iterdir()):
        if entry.name.isdigit():
            name, state, _ = entry.read_text().split()
            if state in WORDS[KIND]:
                yield entry.name, WORDS[KIND][state], name


def delete(job):
    name, state, process = (QUEUE / job).read_text().split()
    if int(process):
        os.kill(int(process), signal.SIGTERM)
    if state == "wait":
        write(job, name, "end", 0)


def main():
    program = Path(sys.argv[0]).name
    arguments = sys.argv[1:]
    if program in ("bkill", "pjdel", "qdel"):
        delete(arguments[-1].split(".")[0])
    elif program == "flux" and arguments[0] == "batch":
        print(f"ƒ{submit(arguments[-1])}")
    elif program == "flux" and arguments[0] == "jobs":
        for job, state, name in jobs():
            print(f"ƒ{job}|{state}||{name}")
    elif program == "flux" and arguments[0] == "cancel":
        delete(arguments[-1].lstrip("f"))
    elif program == "bsub":
        print(f"Job <{submit(None)}> is submitted to default queue <batch>.")
    elif program == "pjsub":
        print(f"[INFO] PJM 0000 pjsub Job {submit(arguments[-1])} submitted.")
    elif program == "qsub":
        print(submit(arguments[-1]), end=".server\n" if KIND == "pbs" else "\n")
    elif program == "qselect":
        for job, _, _ in jobs():
            print(f"{job}.server")
    elif program == "bjobs":
        for job, state, name in jobs():
            print(job, state, name)
    elif program == "pjstat":
        for job, state, name in jobs():
            ended = state == "EXT"
            if ended == ("-H" in arguments):
                print(f"  {job}  {state}  {name}")
    elif program == "qstat" and KIND == "pbs":
        for job, state, name in jobs():
            print(f"Job Id: {job}.server|Job_Name={name}|Job_Owner=u@h|job_state={state}|queue=q")
    elif program == "qstat" and KIND == "uge":
        for job, state, name in jobs():
            print(f"{job:>7} 0.5 {name[:10]:10} user {state:5} 11/21/2026 10:00:00 1")
            print(f"       Full jobname:     {name}")
    elif program == "qstat":
        print("JobID  State  JobName\n=====================")
        for job, state, name in jobs():
            print(f"{job}  {state}  {name}")


main()
