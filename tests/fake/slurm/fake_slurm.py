#!/usr/bin/env -S python3 -I -S
"""Stands in for sbatch, squeue, sacct, scancel and scontrol, by the name that it is called by.

$FAKE_SLURM is a directory. In it:

    calls           what was called, one JSON list of words per line, the program first
    NAME.mishaps    what the next calls of that program do instead, one JSON object per line, each
                    taken once: {"output": ..., "error": ..., "code": ..., "delay_s": ...}. With
                    "also": true the program does its work first, and its own answer is dropped: an
                    answer that was lost on its way. With "kill": true it kills its caller then.
                    With "pass": true nothing goes wrong.
    fates           how the next jobs (tasks of an array one by one) end, a state per line; the
                    last line stays. COMPLETED, which is also the fate without the file, runs the
                    script and takes its exit code; in every other state the script never runs.
    accounting      if it exists, sacct answers, and squeue has forgotten the jobs that ended
    jobs            what there is, as JSON

Where SLURM_CONF is set, a real cluster stands behind: then calls are noted, mishaps happen, and
otherwise the real program is called.
"""

import fcntl
import json
import os
import re
import sys
import time

# Tests call it a thousand times, so what only some calls need is imported where they need it.

HERE = os.environ["FAKE_SLURM"]
PROGRAM = os.path.basename(sys.argv[0])
ARGUMENTS = sys.argv[1:]
UNFINISHED = ("PENDING", "RUNNING", "COMPLETING", "CONFIGURING", "SUSPENDED", "REQUEUED")
SHORT_OPTIONS = {"-j": "--jobs", "-o": "--format", "-t": "--states", "-a": "--array",
                 "-J": "--job-name", "-p": "--partition", "-S": "--starttime", "-M": "--clusters",
                 "-D": "--chdir", "-d": "--dependency", "-u": "--user"}


def alone():
    """To be held while files are read and written: calls may come at the same time."""
    lock = open(f"{HERE}/lock", "w", encoding="utf-8")
    fcntl.flock(lock, fcntl.LOCK_EX)
    return lock


def read(name, default=""):
    try:
        with open(f"{HERE}/{name}", encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return default


def write(name, text):
    with open(f"{HERE}/{name}", "w", encoding="utf-8") as file:
        file.write(text)


def take_line(name, keep_last=False):
    """The first line of a file, which then has it no more."""
    lines = read(name).splitlines()
    if lines and not (keep_last and len(lines) == 1):
        write(name, "".join(line + "\n" for line in lines[1:]))
    return lines[0] if lines else None


def options_of(words):
    """Options with their values by their long names, and the words that are none."""
    found, plain, words = {}, [], list(words)
    while words:
        word = words.pop(0)
        if word in SHORT_OPTIONS and words:
            found[SHORT_OPTIONS[word]] = words.pop(0)
        elif word[:2] in SHORT_OPTIONS and len(word) > 2:
            found[SHORT_OPTIONS[word[:2]]] = word[2:]
        elif word.startswith("--"):
            name, equals, value = word.partition("=")
            if not equals and name in SHORT_OPTIONS.values() and words:
                value = words.pop(0)
            found[name] = value
        elif word.startswith("-"):
            found[word] = ""
        else:
            plain.append(word)
    return found, plain


def fail(message, code=1):
    print(message, file=sys.stderr)
    sys.exit(code)


def indices_of(text):
    """`0-2,7` without its `%`."""
    indices = []
    for part in text.partition("%")[0].split(","):
        first, _, last = part.partition("-")
        indices += range(int(first), int(last or first) + 1)
    return indices


def run_script(script, directory, variables):
    import subprocess
    environment = {name: value for name, value in os.environ.items() if name != "FAKE_SLURM"}
    done = subprocess.run(["/bin/bash", script], cwd=directory, check=False,
                          env=environment | variables, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return done.returncode


def sbatch():
    options, plain = options_of(ARGUMENTS)
    if not plain or not os.path.isfile(plain[0]):
        fail(f"sbatch: error: Unable to open file {plain[0] if plain else '-'}")
    with open(plain[0], encoding="utf-8") as file:
        directives = re.findall(r"^#SBATCH\s+(.*)$", file.read(), re.MULTILINE)
    head = {}
    for line in directives:
        head |= options_of([line.replace('"', "")])[0]
    head |= options
    indices = indices_of(head["--array"]) if "--array" in head else [None]
    with alone():
        jobs = json.loads(read("jobs", "[]"))
        first = max([job["id"] for job in jobs], default=100) + 1
        added = []
        for number, index in enumerate(indices):
            added.append({"id": first + number, "array": first, "index": index, "code": 0,
                          "name": head.get("--job-name", "job"), "state": "PENDING",
                          "comment": head.get("--comment", ""), "reason": "None",
                          "submit": time.strftime("%Y-%m-%dT%H:%M:%S"), "host": "n/a",
                          "fate": take_line("fates", keep_last=True) or "COMPLETED"})
        write("jobs", json.dumps(jobs + added))
    for job in added:
        settle(job, plain[0], head.get("--chdir") or os.getcwd())
    print(first if "--parsable" in head else f"Submitted batch job {first}")


def settle(job, script, directory):
    state, code = job["fate"], 0
    if state == "COMPLETED":
        variables = {"SLURM_JOB_ID": str(job["id"]), "SLURM_NODELIST": "fake1"}
        if job["index"] is not None:
            variables |= {"SLURM_ARRAY_JOB_ID": str(job["array"]),
                          "SLURM_ARRAY_TASK_ID": str(job["index"])}
        code = run_script(script, directory, variables)
        state = "COMPLETED" if code == 0 else "FAILED"
    with alone():
        jobs = json.loads(read("jobs"))
        for known in jobs:
            if known["id"] == job["id"]:
                known |= {"state": state, "code": code}
                if state != "PENDING":
                    known["host"] = "fake1"
        write("jobs", json.dumps(jobs))


def ids_in(word):
    """`7`, `7_1`, and each task of `7_[0-2,5]`."""
    match = re.fullmatch(r"(\d+)_\[([\d,-]+)\]", word)
    if not match:
        return [word]
    ids = []
    for part in match[2].split(","):
        first, _, last = part.partition("-")
        ids += [f"{match[1]}_{task}" for task in range(int(first), int(last or first) + 1)]
    return ids


def chosen(jobs, options):
    """Those that -j names; without it, all."""
    if "--jobs" not in options:
        return jobs
    words = re.findall(r"[^,\[]+(?:\[[^\]]*\])?", options["--jobs"])
    wanted = {one for word in words for one in ids_in(word)}
    return [job for job in jobs
            if {str(job["id"]), str(job["array"]), f"{job['array']}_{job['index']}"} & wanted]


HEADINGS = {"A": "JOBID", "F": "ARRAY_JOB_ID", "K": "ARRAY_TASK_ID", "T": "STATE", "r": "REASON",
            "V": "SUBMIT_TIME", "B": "EXEC_HOST", "j": "NAME", "k": "COMMENT", "i": "JOBID"}


def fill(template, fields):
    return re.sub(r"%(.)", lambda match: str(fields.get(match[1], "")), template)


def squeue():
    options, _ = options_of(ARGUMENTS)
    jobs = json.loads(read("jobs", "[]"))
    if os.path.exists(f"{HERE}/accounting"):
        jobs = [job for job in jobs if job["state"] in UNFINISHED]
    listed = chosen(jobs, options)
    if not listed and "," not in options.get("--jobs", ","):
        fail("slurm_load_jobs error: Invalid job id specified")
    if options.get("--states", "").lower() != "all":
        listed = [job for job in listed if job["state"] in UNFINISHED]
    template = options.get("--format", "%i %T")
    if "--clusters" in options:
        print(f"CLUSTER: {options['--clusters']}")
    if not {"-h", "--noheader"} & options.keys():
        print(fill(template, HEADINGS))
    for job in listed:
        index = "N/A" if job["index"] is None else job["index"]
        print(fill(template, {"A": job["id"], "F": job["array"], "K": index, "T": job["state"],
                              "r": job["reason"], "V": job["submit"], "B": job["host"],
                              "j": job["name"], "k": job["comment"], "i": full_id(job)}))


def full_id(job):
    return str(job["id"]) if job["index"] is None else f"{job['array']}_{job['index']}"


def sacct():
    options, _ = options_of(ARGUMENTS)
    if not os.path.exists(f"{HERE}/accounting"):
        fail("Slurm accounting storage is disabled")
    for job in chosen(json.loads(read("jobs", "[]")), options):
        if job["state"] not in ("PENDING",):
            fields = {"jobid": full_id(job), "jobidraw": job["id"], "state": job["state"],
                      "exitcode": f"{job['code']}:0", "submit": job["submit"],
                      "nodelist": job["host"], "comment": job["comment"], "jobname": job["name"]}
            names = options.get("--format", "JobID,State").lower().split(",")
            print(options.get("--delimiter", "|").join(str(fields.get(name.partition("%")[0], "")) for name in names))


def scancel():
    options, plain = options_of(ARGUMENTS)
    with alone():
        jobs = json.loads(read("jobs", "[]"))
        for job in chosen(jobs, options | {"--jobs": ",".join(plain)}):
            if job["state"] in UNFINISHED:
                job["state"] = "CANCELLED"
        write("jobs", json.dumps(jobs))


def scontrol():
    behind_cluster = ARGUMENTS[2:] if ARGUMENTS[:1] == ["-M"] else ARGUMENTS
    words = [word for word in behind_cluster if not word.startswith("-")]
    if words[:2] == ["show", "config"]:
        print("MaxArraySize            = 1001\nMinJobAge               = 300 sec\n"
              "SLURM_VERSION           = 22.05.8")
    elif words[:2] == ["show", "partition"]:
        for name in ("fx", "low", "nosuch"):
            print(f"PartitionName={name} AllowAccounts=ALL AllowQos=ALL Default=NO MaxNodes=UNLIMITED"
                  " MaxTime=UNLIMITED State=UP TotalNodes=4")
    elif words[:1] == ["ping"]:
        print("Slurmctld(primary) at fake1 is UP")
    elif words[:2] == ["show", "job"]:
        for job in json.loads(read("jobs", "[]")):
            task = "" if job["index"] is None else (
                f" ArrayJobId={job['array']} ArrayTaskId={job['index']}")
            print(f"JobId={job['id']}{task} JobName={job['name']} JobState={job['state']}"
                  f" Reason={job['reason']} ExitCode={job['code']}:0 Comment={job['comment']}")


def act():
    if "SLURM_CONF" not in os.environ:
        {"sbatch": sbatch, "squeue": squeue, "sacct": sacct, "scancel": scancel,
         "scontrol": scontrol}[PROGRAM]()
        return
    import shutil
    own = os.path.dirname(os.path.abspath(sys.argv[0]))
    path = os.pathsep.join(part for part in os.environ["PATH"].split(os.pathsep) if part != own)
    real = shutil.which(PROGRAM, path=path)
    os.execve(real, [PROGRAM, *ARGUMENTS], os.environ | {"PATH": path})


def act_unheard():
    child = os.fork()
    if child == 0:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        act()
        sys.stdout.flush()
        os._exit(0)
    os.waitpid(child, 0)


def main():
    with alone():
        with open(f"{HERE}/calls", "a", encoding="utf-8") as calls:
            calls.write(json.dumps([PROGRAM, *ARGUMENTS]) + "\n")
        line = take_line(f"{PROGRAM}.mishaps")
    mishap = json.loads(line) if line else {"pass": True}
    if mishap.get("pass"):
        act()
        return
    time.sleep(mishap.get("delay_s", 0))
    if mishap.get("also"):
        act_unheard()
    if mishap.get("kill"):
        import signal
        os.kill(os.getppid(), signal.SIGKILL)
    sys.stdout.buffer.write(mishap.get("output", "").encode("latin-1"))  # a byte for a character
    sys.stderr.write(mishap.get("error", ""))
    sys.exit(mishap.get("code", 0))


if __name__ == "__main__":
    main()
