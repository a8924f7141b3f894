#pragma once

namespace bench::evaluate {

/// What the co-process runs: `python3 -c`. Modules come from where JUBE finds them, PYTHONPATH and
/// the user's own among them, and not from the current directory.
///
/// Request: 8 bytes with the length of the rest, one byte that says what is asked, then for each
/// expression 8 bytes with its length and the expression. Answer, for each: `v` or `e`, 8 bytes
/// with the length of the text, the text. Numbers are little endian.
///
/// Modules are imported where an expression names them: `re` and `subprocess` would double the
/// start-up time. To compile an expression takes ten times as long as to evaluate it, so in a large
/// request those that differ only in whole numbers, as the combinations of a sweep do, share their
/// code (`Shapes`).
inline constexpr const char* worker_script = R"python(
import sys
if sys.path[:1] == [""]:
    del sys.path[0]
import os

MODULES = ("os", "re", "string", "operator", "subprocess", "time", "math", "grp", "pwd")
OWN_PID = os.getpid()
LARGE = 10000  # bytes of a request for which it pays to import re
shapes = None

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
    # What a program printed stands in the text as it was printed.
    names.update((name, float(name)) for name in ("nan", "inf") if name in text)
    return names


def describe(error):
    name = type(error).__name__
    try:
        message = error.msg if isinstance(error, SyntaxError) else str(error)
    except BaseException:
        message = None
    return f"{name}: {message}" if message else name


def build(text):
    return compile(text, "<expression>", "eval")


class Shapes:
    """Code for expressions by what is left of them without their whole numbers.

    The numbers become names. An expression is compiled as it stands the first two times, so
    what Python refuses is refused here. Left alone is where a number could be told from a
    name, and what the pattern cannot take apart.
    """

    LIMIT = 10000

    def __init__(self):
        import re
        # Not the exponent of 1e-3.
        number = r"(?<![\w.])(?<![0-9.][eE][+-])(0|[1-9][0-9]{0,17})(?![\w.])"
        self.split = re.compile(r"""('[^']*'|"[^"]*")|""" + number).split
        self.refused = re.compile(r"\bis\b|__|locals|globals|vars|dir|eval|exec|compile").search
        self.codes, self.seen = {}, set()

    def find(self, text):
        """Code and globals, or None."""
        if "\\" in text or "#" in text or "'''" in text or '"""' in text:
            return None
        parts = self.split(text)
        shape = (*parts[0::3], *parts[1::3])
        if shape not in self.codes:
            if shape not in self.seen:
                if len(self.seen) >= self.LIMIT:
                    self.seen.clear()
                    self.codes.clear()
                self.seen.add(shape)
                return None
            build(text)
            self.codes[shape] = self.make(parts)
        code, names, modules = self.codes[shape]
        if not code:
            return None
        values = map(int, filter(None, parts[2::3]))
        return code, {**modules, **dict(zip(names, values))}

    def make(self, parts):
        source, names = parts[0], []
        for k in range(1, len(parts), 3):
            if parts[k] is None:
                names.append(f"_bench{len(names)}")
            elif source[-1:].isalpha():  # a prefix: in f'...' quotes may be nested
                return None, None, None
            source += (parts[k] or names[-1]) + parts[k + 2]
        if self.refused(source):
            return None, None, None
        return build(source), names, scope(source)


def prepare(text):
    found = shapes.find(text) if shapes else None
    return found or (build(text), scope(text))


def evaluate(ask, text):
    try:
        if ask == b"s":
            build(text.lstrip(" \t"))
            return b"v", b""
        value = eval(*prepare(text.lstrip(" \t")))
        result = str(value if ask == b"v" else bool(value))
        return b"v", result.encode("utf-8", "surrogateescape")
    except BaseException as error:
        return b"e", describe(error).encode("utf-8", "backslashreplace")


def answer(request):
    global shapes
    if shapes is None and len(request) > LARGE:
        shapes = Shapes()
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
