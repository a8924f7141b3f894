# Writes what a run of waiting.yaml has written once more, below another directory, and hands its
# submissions to sbatch: the least that any program does that submits the same jobs.
import pathlib
import subprocess
import sys

old, new = (pathlib.Path(argument).absolute() for argument in sys.argv[1:])


def rewrite(file, text):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text.replace(str(old), str(new)))


script = (old / "000000_train/job.sh").read_text()
for number in range(10_000):
    name = f"{number:06}_train"
    (new / name / "work").mkdir(parents=True)
    rewrite(new / name / "job.sh", script.replace("000000_train", name))
for submission in (old / "submissions").iterdir():
    for file in submission.iterdir():
        rewrite(new / "submissions" / submission.name / file.name, file.read_text())
    subprocess.run(
        ["sbatch", "--parsable", new / "submissions" / submission.name / "job.sh"],
        check=True,
        capture_output=True,
    )
