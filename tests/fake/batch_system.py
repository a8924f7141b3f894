#!/usr/bin/env python3
"""Stands in for the programs of a batch system other than Slurm.

Called by the name of the program (bsub, qstat, pjdel, ...). FAKE_BATCH_KIND names the system,
FAKE_BATCH_DIR the directory that holds one file per job, or per task of an array (`100.2`): name,
state, process. Jobs run at once, the tasks of an array no more at a time than its limit says. While
there is a file `hold` they wait until they are deleted."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

KIND = os.environ["FAKE_BATCH_KIND"]
QUEUE = Path(os.environ["FAKE_BATCH_DIR"])
DIRECTIVES = {"pbs": r"#PBS -N (\S+)", "lsf": r'#BSUB -J "([^"\[]+)', "pjm": r"#PJM -N (\S+)",
              "uge": r"#\$ -N (\S+)", "cobalt": r"#COBALT --jobname (\S+)", "flux": r"#flux: --job-name=(\S+)"}
ARRAYS = {"pbs": r"#PBS -J (\d+)-(\d+)(?:%(\d+))?$",
          "lsf": r'#BSUB -J "[^"\[]+\[(\d+)-(\d+)\](?:%(\d+))?"'}
INDEX = {"pbs": "PBS_ARRAY_INDEX", "lsf": "LSB_JOBINDEX"}
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


def run(job, name, text, index):
    """One job, or one task, to its end."""
    environment = dict(os.environ)
    if KIND in INDEX and (index or KIND == "lsf"):
        environment[INDEX[KIND]] = str(index or 0)
    process = subprocess.Popen(["bash", "-s"], stdin=subprocess.PIPE, env=environment)
    write(job, name, "run", process.pid)
    process.stdin.write(text.encode())
    process.stdin.close()
    return process


def submit(script):
    """The id of the job, and whether it is an array."""
    text = Path(script).read_text() if script else sys.stdin.read()
    name = re.search(DIRECTIVES[KIND], text).group(1)
    number = 100 + len({entry.name.split(".")[0] for entry in QUEUE.iterdir() if entry.name[0].isdigit()})
    array = re.search(ARRAYS[KIND], text, re.MULTILINE) if KIND in ARRAYS else None
    if array and re.search(r"^#PBS -r n", text, re.MULTILINE):
        sys.exit("qsub: cannot submit non-rerunable Array Job")
    tasks = range(int(array[1]), int(array[2]) + 1) if array else [None]
    with open(QUEUE / "submissions", "a", encoding="utf-8") as log:
        written = text[array.start(1) - (KIND == "lsf"):array.end()].rstrip('"') if array else "job"
        log.write(f"{written}\n")
    named = [(f"{number}.{task}" if task else str(number), task) for task in tasks]
    for job, _ in named:
        write(job, name, "wait", 0)
    if (QUEUE / "hold").exists():
        return number, bool(array)
    if os.fork() == 0:
        os.setsid()
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(null, stream)
        at_once = int(array[3]) if array and array[3] else len(named)
        while named:
            some, named = named[:at_once], named[at_once:]
            started = [(job, run(job, name, text, task)) for job, task in some]
            for job, process in started:
                process.wait()
                write(job, name, "end", 0)
        os._exit(0)
    return number, bool(array)


def key(entry):
    return [int(part) for part in entry.name.split(".")]


def jobs():
    for entry in sorted((entry for entry in QUEUE.iterdir() if entry.name[0].isdigit()), key=key):
        name, state, _ = entry.read_text().split()
        if state in WORDS[KIND]:
            yield entry.name, WORDS[KIND][state], name


def delete(job):
    """`100`, or `100[2]`."""
    job = job.replace("[", ".").rstrip("]")
    name, state, process = (QUEUE / job).read_text().split()
    if int(process):
        os.kill(int(process), signal.SIGTERM)
    if state == "wait":
        write(job, name, "end", 0)


def main():
    program = Path(sys.argv[0]).name
    arguments = sys.argv[1:]
    if program in ("bkill", "pjdel", "qdel"):
        delete(arguments[-1])
    elif program == "flux" and arguments[0] == "batch":
        print(f"ƒ{submit(arguments[-1])[0]}")
    elif program == "flux" and arguments[0] == "jobs":
        for job, state, name in jobs():
            print(f"ƒ{job}|{state}||{name}")
    elif program == "flux" and arguments[0] == "cancel":
        delete(arguments[-1].lstrip("f"))
    elif program == "bsub":
        print(f"Job <{submit(None)[0]}> is submitted to default queue <batch>.")
    elif program == "pjsub":
        print(f"[INFO] PJM 0000 pjsub Job {submit(arguments[-1])[0]} submitted.")
    elif program == "qsub":
        number, is_array = submit(arguments[-1])
        print(f"{number}{'[]' if is_array else ''}" + (".server" if KIND == "pbs" else ""))
    elif program == "qselect":
        for job in dict.fromkeys(job.split(".")[0] + ("[]" if "." in job else "") for job, _, _ in jobs()):
            print(f"{job}.server")
    elif program == "bjobs":
        for job, state, name in jobs():
            number, _, index = job.partition(".")
            print(number, index or 0, state, name + (f"[{index}]" if index else ""))
    elif program == "pjstat":
        for job, state, name in jobs():
            ended = state == "EXT"
            if ended == ("-H" in arguments):
                print(f"  {job}  {state}  {name}")
    elif program == "qstat" and KIND == "pbs":
        for job, state, name in jobs():
            number, _, index = job.partition(".")
            print(f"Job Id: {number}{f'[{index}]' if index else ''}.server|Job_Name={name}|Job_Owner=u@h|job_state={state}|queue=q")
    elif program == "qstat" and KIND == "uge":
        for job, state, name in jobs():
            print(f"{job:>7} 0.5 {name[:10]:10} user {state:5} 11/21/2026 10:00:00 1")
            print(f"       Full jobname:     {name}")
    elif program == "qstat":
        print("JobID  State  JobName\n=====================")
        for job, state, name in jobs():
            print(f"{job}  {state}  {name}")


main()
