#!/usr/bin/env python3
"""Stands in for an MLflow tracking server: keeps what it is sent, holds clients to the limits of
log-batch, and fails where a test asks for it.

mlflow_server.py DIRECTORY [--tls CERTIFICATE KEY] [--artifacts ROOT]

It writes the number of its port to DIRECTORY/port, what it has to DIRECTORY/state after every
change, and a line for each request to DIRECTORY/requests. DIRECTORY/faults says how requests fail,
a line for each: the call, which one of that name (1, 2, ...), and the fault. DIRECTORY/token holds
the value that the header Authorization must have."""

import json
import ssl
import sys
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

DIRECTORY = Path(sys.argv[1])
ARTIFACTS = "mlflow-artifacts:"
if "--artifacts" in sys.argv:
    ARTIFACTS = sys.argv[sys.argv.index("--artifacts") + 1]
IDENTITY = ("bench.run_uuid", "bench.workpackage", "bench.attempt")

experiments = {}
runs = {}
remarks = []
counts = {}
lock = threading.Lock()


class Refusal(Exception):
    def __init__(self, status, code, message):
        super().__init__(message)
        self.status, self.code = status, code


def invalid(message):
    remarks.append("REFUSED " + message)
    return Refusal(400, "INVALID_PARAMETER_VALUE", message)


def tags_of(run):
    return tuple(run["tags"].get(name, "") for name in IDENTITY)


def as_json(run):
    latest = []
    for key, values in run["metrics"].items():
        best = max(values, key=lambda one: (one["step"], one["timestamp"]))
        latest.append({"key": key, **best})
    pairs = {kind: [{"key": key, "value": value} for key, value in run[kind].items()]
             for kind in ("params", "tags")}
    return {"info": {"run_id": run["id"], "run_name": run["name"], "status": run["status"],
                     "artifact_uri": f"{ARTIFACTS}/{run['experiment']}/{run['id']}/artifacts"},
            "data": {"metrics": latest, **pairs}}


def run_of(request):
    if request.get("run_id") not in runs:
        raise Refusal(404, "RESOURCE_DOES_NOT_EXIST", "no such run")
    return runs[request["run_id"]]


def experiment_by_name(request):
    for name, number_of in experiments.items():
        if name == request["experiment_name"]:
            return {"experiment": {"experiment_id": number_of, "name": name,
                                   "lifecycle_stage": "deleted" if name == "gone" else "active"}}
    raise Refusal(404, "RESOURCE_DOES_NOT_EXIST", "no such experiment")


def create_experiment(request):
    if request["name"] in experiments:
        raise Refusal(400, "RESOURCE_ALREADY_EXISTS", "it exists")
    experiments[request["name"]] = str(len(experiments) + 1)
    return {"experiment_id": experiments[request["name"]]}


def create_run(request):
    run = {"id": f"{len(runs) + 1:032x}", "name": request["run_name"], "status": "RUNNING",
           "experiment": request["experiment_id"], "start": request["start_time"], "end": None,
           "params": {}, "metrics": {}, "files": {},
           "tags": {tag["key"]: tag["value"] for tag in request["tags"]}}
    if any(tags_of(run) == tags_of(other) for other in runs.values()):
        remarks.append("DOUBLED run " + run["name"])
    runs[run["id"]] = run
    return {"run": as_json(run)}


def search(request):
    conditions = [part.split(" = ") for part in request["filter"].split(" AND ")]
    found = [run for run in runs.values() if run["experiment"] in request["experiment_ids"] and all(
        run["tags"].get(name[len("tags.`"):-1]) == value.strip("'") for name, value in conditions)]
    first = int(request.get("page_token", 0))
    page = min(request["max_results"], 2)  # so that there are pages
    answer = {"runs": [as_json(run) for run in found[first:first + page]]}
    if first + page < len(found):
        answer["next_page_token"] = str(first + page)
    return answer


def check_limits(request, size):
    lists = [request.get(kind, []) for kind in ("metrics", "params", "tags")]
    if len(lists[0]) > 1000 or len(lists[1]) > 100 or len(lists[2]) > 100:
        raise invalid("too many of one kind")
    if sum(map(len, lists)) > 1000:
        raise invalid("more than 1000 items")
    if size > 1000000:
        raise invalid("more than 1 MB")
    for kind, longest in zip(lists, (30, 6000, 5000)):
        for one in kind:
            if not 0 < len(one["key"]) <= 250 or len(str(one["value"])) > longest:
                raise invalid("too long: " + one["key"][:40])
            if not all(c.isalnum() or c in "_-. /" for c in one["key"]):
                raise invalid("invalid key: " + one["key"])


def log_batch(request, size):
    run = run_of(request)
    check_limits(request, size)
    for param in request["params"]:
        if run["params"].setdefault(param["key"], param["value"]) != param["value"]:
            raise invalid("a parameter cannot change: " + param["key"])
    for metric in request["metrics"]:
        values = run["metrics"].setdefault(metric["key"], [])
        new = {"value": metric["value"], "timestamp": metric["timestamp"], "step": metric["step"]}
        if new in values:
            remarks.append(f"DOUBLED {run['name']} {metric['key']} {metric['step']}")
        values.append(new)
    run["tags"].update({tag["key"]: tag["value"] for tag in request["tags"]})
    return {}


def update(request):
    run = run_of(request)
    run["status"], run["end"] = request["status"], request.get("end_time")
    return {"run_info": as_json(run)["info"]}


def history(request):
    values = run_of(request)["metrics"].get(request["metric_key"], [])
    first = int(request.get("page_token", 0))
    answer = {"metrics": [{"key": request["metric_key"], **one} for one in values[first:first + 2]]}
    if first + 2 < len(values):
        answer["next_page_token"] = str(first + 2)
    return answer


CALLS = {"experiments/get-by-name": experiment_by_name, "experiments/create": create_experiment,
         "runs/create": create_run, "runs/search": search, "runs/update": update,
         "runs/get": lambda request: {"run": as_json(run_of(request))},
         "metrics/get-history": history}


# What is sent without end, and the pause after each time.
ENDLESS = {"endless body": (b"\r\n" + b" " * (1 << 16), 0),
           "endless head": (b"X-Header: " + b"x" * 1000 + b"\r\n", 0),
           "endless line": (b"x" * (1 << 16), 0),
           "slow body": (b"\r\n ", 0.02),
           "slow head": (b"X: y\r\n", 0.02)}


def lines():
    yield from (f"experiment {name}" for name in experiments)
    for run in runs.values():
        yield f"run {run['name']} {run['status']} {'ended' if run['end'] else 'open'}"
        for kind in ("params", "tags"):
            yield from (f"  {kind[:-1]} {key}={value}" for key, value in sorted(run[kind].items()))
        for key, values in sorted(run["metrics"].items()):
            yield from (f"  metric {key} {one['value']} step {one['step']}" for one in values)
        yield from (f"  file {name} {size}" for name, size in sorted(run["files"].items()))
    yield from remarks


def write(name, text):
    draft = DIRECTORY / f".{name}"
    draft.write_text(text)
    draft.rename(DIRECTORY / name)


def fault_of(call):
    counts[call] = counts.get(call, 0) + 1
    faults = DIRECTORY / "faults"
    for line in faults.read_text().splitlines() if faults.exists() else []:
        name, which, fault = line.split(" ", 2)
        if name == call and which in (str(counts[call]), "all"):
            return fault
    return ""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one packet

    def log_message(self, *_):
        pass

    def answer(self, status, text, headers=()):
        body = text.encode()
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def send_without_end(self, piece, pause_s):
        """Until the client gives up. The connection ends with it."""
        self.close_connection = True
        try:
            self.connection.sendall(b"HTTP/1.1 200 OK\r\n")
            while True:
                self.connection.sendall(piece)
                time.sleep(pause_s)
        except OSError:
            pass

    def reset(self):
        self.close_connection = True
        self.connection.close()

    def carry_out(self, call, body):
        address = urllib.parse.urlsplit(self.path)
        if call == "artifacts":
            _, experiment, run, _, name = urllib.parse.unquote(
                address.path.split("/mlflow-artifacts/artifacts")[1]).split("/", 4)
            assert runs[run]["experiment"] == experiment
            runs[run]["files"][name] = len(body)
            return {}
        request = json.loads(body) if body else dict(urllib.parse.parse_qsl(address.query))
        if call == "runs/log-batch":
            return log_batch(request, len(body))
        if call not in CALLS:
            raise Refusal(404, "ENDPOINT_NOT_FOUND", "no such call")
        return CALLS[call](request)

    def serve(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        path = urllib.parse.urlsplit(self.path).path
        call = "artifacts" if "/mlflow-artifacts/" in path else path.split("/mlflow/", 1)[-1]
        token = DIRECTORY / "token"
        with lock:
            with (DIRECTORY / "requests").open("a") as requests:
                requests.write(f"{self.command} {path}\n")
            fault = fault_of(call)
            if token.exists() and self.headers.get("Authorization") != token.read_text():
                return self.answer(401, json.dumps({"error_code": "UNAUTHENTICATED",
                                                    "message": "who are you"}))
            if fault.startswith("status "):
                _, status, *headers = fault.split(" ")
                return self.answer(int(status), "busy", [one.split("=") for one in headers])
            if fault == "not json":
                return self.answer(200, "<html>Please log in</html>")
            if fault == "reset":
                return self.reset()
            try:
                answer = self.carry_out(call, body)
            except Refusal as refusal:
                return self.answer(refusal.status, json.dumps({"error_code": refusal.code,
                                                               "message": str(refusal)}))
            write("state", "\n".join(lines()) + "\n")
        if fault == "same page":  # for ever
            answer["next_page_token"] = "0"
        if fault == "another page":  # for ever
            answer["next_page_token"] = str(counts[call])
        if fault in ENDLESS:
            return self.send_without_end(*ENDLESS[fault])
        if fault == "lost answer":
            return self.reset()
        if fault == "no answer":  # until the client gives up
            self.connection.recv(1)
            return self.reset()
        return self.answer(200, json.dumps(answer))

    do_GET = do_POST = do_PUT = serve


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
if "--tls" in sys.argv:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*sys.argv[sys.argv.index("--tls") + 1:][:2])
    server.socket = context.wrap_socket(server.socket, server_side=True)
write("port", str(server.server_port))
server.serve_forever()
