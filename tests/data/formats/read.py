"""Reads a file as the consumers of its format do, and prints what they understand.

    read.py FORMAT FILE [SCHEMA]

Ends with 77 if the consumer is not installed.
"""
import base64
import gzip
import json
import re
import sys
import zipfile

FORMAT, FILE = sys.argv[1:3]


def text():
    with open(FILE, encoding="utf-8", newline="") as file:
        return file.read()


def show(rows):
    for row in rows:
        print(" ; ".join(str(cell) for cell in row))


def csv():
    import csv as reader
    with open(FILE, encoding="utf-8", newline="") as file:
        show(row for row in reader.reader(file) if row)


def json_tables():
    for name, rows in json.loads(text()).items():
        print(name)
        show([row["precision"], row["size"], row["rate"], row["größe_%"], row["status"]]
             for row in rows)


def json_lines():
    show([row["precision"], row["size"], row["rate"], row["größe_%"], row["status"]]
         for row in map(json.loads, text().splitlines()))


def cells_of(html):
    """A line for each row of the tables in a page, which has to be valid."""
    import html5lib
    page = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parse(html)
    return [["".join(cell.itertext()) for cell in row] for row in page.iter("tr")]


def html():
    show(cells_of(text()))


def markdown():  # what cmark-gfm makes of it
    show(cells_of("<!doctype html><title>t</title>" + text()))


def latex():
    from pylatexenc.latex2text import (LatexNodes2Text, MacroTextSpec,
                                       get_default_latex_context_db)
    from pylatexenc.latexwalker import LatexEnvironmentNode, LatexWalker
    nodes, _, _ = LatexWalker(text(), tolerant_parsing=False).get_latex_nodes()
    assert [node.environmentname for node in nodes
            if node.isNodeType(LatexEnvironmentNode)] == ["tabular"]
    names = get_default_latex_context_db()
    names.add_context_category("text symbols", prepend=True, macros=[
        MacroTextSpec("textbar", "|"), MacroTextSpec("textless", "<"),
        MacroTextSpec("textgreater", ">")])
    plain = LatexNodes2Text(latex_context=names)
    body = re.search(r"\\toprule\n(.*)\\bottomrule", text(), re.DOTALL)[1]
    for row in body.replace("\\midrule\n", "").split(" \\\\\n")[:-1]:
        print(" ; ".join(plain.latex_to_text(cell).strip() for cell in row.split(" & ")))


def junit():
    import junitparser
    for suite in junitparser.JUnitXml.fromfile(FILE):
        print(suite.name, suite.tests, suite.failures, suite.skipped, suite.errors)
        for case in suite:
            show([[case.classname, case.name] +
                  [f"{type(one).__name__} {one.type} {one.message}" for one in case.result]])


def openmetrics():
    from prometheus_client.openmetrics import parser
    for family in parser.text_string_to_metric_families(text()):
        for sample in family.samples:
            if family.name.startswith("bench_rate"):
                labels = sample.labels
                show([[sample.name, labels["benchmark"], labels["precision"], labels["size"],
                       sample.value]])


def ro_crate():
    import jsonschema
    with zipfile.ZipFile(FILE) as archive:
        name = next(one for one in archive.namelist() if one.endswith("ro-crate-metadata.json"))
        crate = json.loads(archive.read(name))
    with open(sys.argv[3], encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft7Validator.check_schema(schema)
    errors = [error.message for error in jsonschema.Draft7Validator(schema).iter_errors(crate)]
    show([errors] if errors else [])
    for one in crate["@graph"]:
        if one["@type"] == "CreateAction":
            show([[one["name"], one["actionStatus"].rsplit("/")[-1], one.get("error", "")]])


def influx():
    """Writes the points to a server that is started for this, and asks it for them."""
    import http.client
    import shutil
    import socket
    import subprocess
    import tempfile
    import time
    import urllib.parse
    if not shutil.which("influxd"):
        raise ModuleNotFoundError("influxd")

    class Client(http.client.HTTPConnection):
        def connect(self):
            self.sock = socket.socket(socket.AF_UNIX)
            self.sock.connect(address)

    def ask(call, body=None, **query):
        client = Client("localhost")
        client.request("POST", f"/{call}?{urllib.parse.urlencode(query)}", body)
        answer = client.getresponse()
        content = answer.read().decode()
        assert answer.status < 300, content
        return json.loads(content)["results"][0] if content else {}

    with tempfile.TemporaryDirectory() as here:
        address = here + "/socket"
        with open(here + "/conf", "w", encoding="utf-8") as file:
            file.write(f"""reporting-disabled = true
bind-address = "127.0.0.1:0"
[meta]
dir = "{here}/meta"
[data]
dir = "{here}/data"
wal-dir = "{here}/wal"
[http]
bind-address = "127.0.0.1:0"
unix-socket-enabled = true
bind-socket = "{address}"
[monitor]
store-enabled = false
""")
        with subprocess.Popen(["influxd", "-config", here + "/conf"], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as server:
            try:
                for _ in range(3000):
                    try:
                        ask("query", q="CREATE DATABASE b")
                        break
                    except (FileNotFoundError, ConnectionRefusedError):
                        assert server.poll() is None, "influxd ended"
                        time.sleep(0.1)
                ask("write", text().encode(), db="b", precision="ns")
                found = ask("query", db="b", q='SELECT benchmark, precision, size, state, '
                            'rate_images_per_s FROM bench')
                print(*sorted(str(row[1:]) for row in found["series"][0]["values"]), sep="\n")
            finally:
                server.kill()


def mlflow_lines(runs):
    """What is the same on every machine."""
    wanted = re.compile(r"bench\.(unit|absent|failure|benchmark|exit_code|outcome|state|step|"
                        r"workpackage|reason|workpackages_.*)\b|mlflow\.(note|runName)")
    for name, status, lines in sorted(runs):
        print(f"run {name} {status}")
        for line in sorted(lines):
            kind, what = line.split(" ", 1)
            if kind == "tag" and not wanted.match(what) or what.startswith("run_time "):
                continue
            print("  " + line)


def mlflow_server():
    """What a server recorded."""
    runs = []
    for line in text().splitlines():
        if line.startswith("run "):
            name, status, _ = line[4:].rsplit(" ", 2)
            runs.append((name, status, []))
        elif line.startswith("  file "):
            runs[-1][2].append(line[2:].rsplit(" ", 1)[0])
        elif line.startswith("  "):
            runs[-1][2].append(line[2:])
    mlflow_lines(runs)


def mlflow_files():
    """The file store of MLflow."""
    import pathlib
    runs = []
    for meta in pathlib.Path(FILE).glob("*/*/meta.yaml"):
        facts = dict(line.split(": ", 1) for line in meta.read_text().splitlines())
        lines = []
        for kind in ("params", "tags", "metrics"):
            for file in (meta.parent / kind).iterdir():
                value = file.read_text()
                if kind != "metrics":
                    lines.append(f"{kind[:-1]} {file.name}={value}")
                    continue
                for point in value.splitlines():
                    _, number, step = point.split(" ")
                    lines.append(f"metric {file.name} {number} step {step}")
        artifacts = meta.parent / "artifacts"
        lines += [f"file {file.relative_to(artifacts)}" for file in artifacts.rglob("*")
                  if file.is_file()]
        runs.append((json.loads(facts["run_name"]),
                     {"3": "FINISHED", "4": "FAILED"}[facts["status"]], lines))
    mlflow_lines(runs)


def report():
    """The data of a report, without what differs from machine to machine."""
    assert not cells_of(text()), "tables are drawn by its script"
    for name in ("content", "tables-content"):
        packed = re.search(rf'<script type="application/gzip" id="{name}">([^<]*)<', text())[1]
        part = json.loads(gzip.decompress(base64.b64decode(packed)))
        for key in sorted(part.keys() - {"runs", "version", "licenses"}):
            entries = part[key] if isinstance(part[key], list) else [part[key]]
            for entry in entries:
                print(key, json.dumps(entry, ensure_ascii=False))


try:
    {"csv": csv, "json": json_tables, "jsonl": json_lines, "html": html, "markdown": markdown,
     "latex": latex, "junit": junit, "openmetrics": openmetrics, "influx": influx,
     "ro-crate": ro_crate, "mlflow-server": mlflow_server, "mlflow-files": mlflow_files,
     "report": report}[FORMAT]()
except ModuleNotFoundError as missing:
    print(missing, file=sys.stderr)
    sys.exit(77)
