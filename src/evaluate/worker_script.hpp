#pragma once

namespace bench::evaluate {

/// What the co-process runs: `python3 -I -c`.
///
/// Request: 8 bytes with the length of the rest, one byte that says what is asked, then for each
/// expression 8 bytes with its length and the expression. Answer, for each: `v` or `e`, 8 bytes
/// with the length of the text, the text. Numbers are little endian.
///
/// Modules are imported where an expression names them: `re` and `subprocess` would double the
/// start-up time.
inline constexpr const char* worker_script = R"python(
import os, sys

MODULES = ("os", "re", "string", "operator", "subprocess", "time", "math", "grp", "pwd")
OWN_PID = os.getpid()

channel = os.dup(0)
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
os.dup2(2, 1)
sys.stdin, sys.stdout = None, sys.stderr


def read(size):
    data = bytearray()
    while len(data) < size:
        piece = os.read(channel, min(size - len(data), 1 << 20))
        if not piece:
            os._exit(0)
        data += piece
    return bytes(data)


def write(data):
    view = memoryview(data)
    while view:
        view = view[os.write(channel, view):]


def scope(text):
    names = {name: __import__(name) for name in MODULES if name in text}
    if "deque" in text:
        names["deque"] = __import__("collections").deque
    return names


def describe(error):
    name = type(error).__name__
    try:
        message = error.msg if isinstance(error, SyntaxError) else str(error)
    except BaseException:
        message = None
    return f"{name}: {message}" if message else name


def evaluate(ask, text):
    try:
        value = eval(compile(text.lstrip(" \t"), "<expression>", "eval"), scope(text))
        result = str(value if ask == b"v" else bool(value))
        return b"v", result.encode("utf-8", "surrogateescape")
    except BaseException as error:
        return b"e", describe(error).encode("utf-8", "backslashreplace")


def answer(request):
    ask, at = request[:1], 1
    while at < len(request):
        begin = at + 8
        at = begin + int.from_bytes(request[at:begin], "little")
        status, text = evaluate(ask, request[begin:at].decode("utf-8", "surrogateescape"))
        if os.getpid() != OWN_PID:  # the expression has forked
            os._exit(0)
        write(status + len(text).to_bytes(8, "little") + text)


try:
    write(b"ready")
    while True:
        answer(read(int.from_bytes(read(8), "little")))
except OSError:  # bench is gone, and with it whoever would read the traceback
    os._exit(0)
)python";

}  // namespace bench::evaluate
