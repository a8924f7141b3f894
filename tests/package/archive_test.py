"""A release archive: `archive_test.py ARCHIVE [ROOT]`.

Its size, its layout and what its programs need of a system; then an unprivileged user with an empty
home unpacks it and runs an example, in ROOT if there is one: the root directory of a bare system.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest

ARCHIVE = pathlib.Path(sys.argv[1]).resolve()
ROOT = pathlib.Path(sys.argv[2]).resolve() if len(sys.argv) > 2 else None
NAME = ARCHIVE.name.removesuffix(".tar.xz")
NEWEST = (2, 28)
NOBODY = "65534"

WANTED = """bin/bench bin/bench-energy share/bench/platforms/local.yaml share/bench/templates/slurm.job
share/bench/references share/bench/report/page.html share/bench/benchmarks share/bench/examples/01_hello_world.yaml
share/man/man1/bench.1 share/man/man1/bench-run.1 share/man/man1/bench-energy.1
share/bash-completion/completions/bench share/zsh/site-functions/_bench
share/fish/vendor_completions.d/bench.fish share/doc/bench/LICENSE
share/doc/bench/THIRD_PARTY_LICENSES include/bench/energy/regions/region.hpp""".split()

# What qemu needs to know, see emulate.py.
EMULATION = [f"{name}={os.environ[name]}" for name in ["QEMU_LD_PREFIX"] if name in os.environ]
SOURCE = pathlib.Path(__file__).parents[2]
MACHINE = NAME.rsplit("-", 1)[1]
# Where scripts/package leaves the linker's maps, and the build whose objects are linked.
BUILT = SOURCE / "build/package" / MACHINE
BUILD = SOURCE / "build/release" if MACHINE == "x86_64" else BUILT / "build"


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


class ArchiveTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.directory.cleanup)
        with tarfile.open(ARCHIVE) as archive:
            cls.members = archive.getmembers()
            archive.extractall(cls.directory.name)
        cls.top = pathlib.Path(cls.directory.name) / NAME
        cls.programs = [cls.top / "bin/bench", cls.top / "bin/bench-energy"]

    def test_is_at_most_15_mb(self):
        self.assertLessEqual(ARCHIVE.stat().st_size, 15_000_000)

    def test_has_one_directory_of_its_name(self):
        self.assertEqual({member.name.split("/")[0] for member in self.members}, {NAME})

    def test_has_programs_data_manual_completion_and_licenses(self):
        names = {member.name for member in self.members}
        self.assertEqual([path for path in WANTED if f"{NAME}/{path}" not in names], [])

    def test_is_readable_for_all_and_owned_by_root(self):
        for member in self.members:
            self.assertEqual((member.uid, member.gid), (0, 0), member.name)
            self.assertEqual(member.mode & 0o444, 0o444, member.name)
            self.assertEqual(member.mode & 0o6022, 0, member.name)
            self.assertTrue(member.isfile() or member.isdir(), member.name)

    def test_programs_need_glibc_alone(self):
        for program in self.programs:
            needed = re.findall(r"NEEDED +(\S+)", output("objdump", "-p", program))
            for library in needed:
                self.assertRegex(library, r"^(lib(c|m|dl|pthread)\.so\.\d|ld-linux.*)$")

    def test_programs_need_no_newer_symbol(self):
        for program in self.programs:
            symbols = output("objdump", "-T", program)
            versions = re.findall(r"GLIBC_([0-9.]+)", symbols)
            self.assertGreater(len(versions), 0)
            newest = max(tuple(map(int, version.split("."))) for version in versions)
            self.assertLessEqual(newest, NEWEST, symbols)

    def test_programs_name_no_directory_of_their_build(self):
        for program in self.programs:
            content = program.read_bytes()
            self.assertNotIn(b"/build/package", content)
            self.assertNotIn(str(SOURCE).encode() + b"/", content)


def headers():
    """All that the objects of both programs include, without the sysroot."""
    text = output("ninja", "-C", str(BUILD), "-t", "deps")
    found = set()
    for target in text.split("\n\n"):
        if target.startswith("src/"):
            found |= {re.sub(".*/sysroot/", "/", os.path.normpath(line.strip()))
                      for line in target.splitlines()[1:]}
    return found


@unittest.skipUnless((BUILT / "bench.map").exists(), "not the machine that made the archive")
class LicensesTest(unittest.TestCase):
    """packaging/archive/third_party.txt against what the linker and the compiler took."""

    # Linked into every program or declarations alone: the C library, its kernel, the compiler.
    SYSTEM = {"libc6-dev", "linux-libc-dev", "libc6-dev-arm64-cross", "linux-libc-dev-arm64-cross",
              "libgcc-12-dev", "libgcc-12-dev-arm64-cross", "libstdc++-12-dev-arm64-cross"}

    @classmethod
    def setUpClass(cls):
        lines = (SOURCE / "packaging/archive/third_party.txt").read_text().splitlines()
        cls.rows = [[cell.strip() for cell in line.split("|")]
                    for line in lines if not line.startswith("#")]
        cls.text = (BUILT / NAME / "share/doc/bench/THIRD_PARTY_LICENSES").read_text()

    def test_static_libraries_are_those_of_the_table(self):
        linked = set()
        for program in ("bench", "bench-energy"):
            link_map = (BUILT / f"{program}.map").read_text()
            members = link_map.split("\nDiscarded input sections\n")[0].split("\nMemory Config")[0]
            linked |= {os.path.basename(path)
                       for path in re.findall(r"(?m)^(\S+\.a)\(", members)}
        ours = {name for name in linked if re.match(r"lib(bench_|old_libm)", name)}
        self.assertGreater(len(ours), 10)
        named = {name for row in self.rows for name in row[3].split() if name != "-"}
        self.assertEqual(named, linked - ours)

    def test_headers_are_of_its_packages(self):
        files = sorted(path for path in headers() if path.startswith("/usr/"))
        found = subprocess.run(["dpkg", "-S", *files], capture_output=True, text=True, check=False)
        packages = {line.split(":")[0] for line in found.stdout.splitlines()} - self.SYSTEM
        self.assertGreater(len(packages), 10)
        named = {row[2] for row in self.rows}
        self.assertLessEqual(packages, named)
        without_library = {row[2] for row in self.rows if row[3] == "-"}
        self.assertLessEqual(without_library, packages)

    def test_each_is_named_with_its_licence_and_its_text(self):
        for library, licence, package, _ in self.rows:
            self.assertIn(f"\n{library}: {licence}\n", self.text)
            begin = self.text.index(f"\n==== {package}\n")
            self.assertGreater(len(self.text[begin:].split("\n==== ")[1]), 700, package)
        for text in set(re.findall(r"/usr/share/common-licenses/[\w.+-]*\w", self.text)):
            self.assertIn(f"\n==== {text}\n", self.text)


def commands_of_the_page():
    """The first block of docs/install.md, which installs into ~/bench."""
    page = (SOURCE / "docs/install.md").read_text()
    block = re.search(r"\n\n((?:    .*\n)+)", page)[1]
    return re.sub("^    ", "", block, flags=re.MULTILINE).replace("x86_64", MACHINE)


@unittest.skipIf(os.getuid() != 0, "only root becomes somebody else")
class UserTest(unittest.TestCase):
    def test_unpacks_it_and_gets_a_table_within_a_minute(self):
        system = ROOT or pathlib.Path("/")
        home = pathlib.Path(tempfile.mkdtemp(dir=system / "tmp"))
        self.addCleanup(shutil.rmtree, home)
        shutil.copy(ARCHIVE, home)
        os.chmod(home, 0o755)
        for path in [home, home / ARCHIVE.name]:
            os.chown(path, int(NOBODY), int(NOBODY))
        inside = pathlib.Path("/") / home.relative_to(system)
        script = f"""set -e
            cd "$HOME"
            {commands_of_the_page()}
            bench run examples/36_energy.yaml --result --power-source mock:constant=100W
            bench platforms > platforms
            man -w bench-run || test ! -x /usr/bin/man"""
        command = ["env", "-i", f"HOME={inside}", f"MANPATH={inside}/bench/share/man",
                   "PATH=/usr/bin:/bin", *EMULATION, "/bin/sh", "-c", script]
        # Mounts of its own, which go with it; in a bare system no network either.
        enter = 'mount -t proc proc "$0/proc"; exec chroot --userspec=' + f'{NOBODY}:{NOBODY} "$0" "$@"'
        command = ["unshare", "--mount", "--net", "sh", "-c", enter, str(system)] + command
        start = time.monotonic()
        run = subprocess.run(command, capture_output=True, text=True, cwd="/", check=False)
        took_s = time.monotonic() - start
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertRegex(run.stdout, r"\| *0\.3 \| *1000 \|.*\| *100 \|\n")
        self.assertIn("MareNostrum5", (home / "platforms").read_text())
        print(f"from the archive to its tables: {took_s:.1f} s", file=sys.stderr)
        if not EMULATION:
            self.assertLess(took_s, 60)


unittest.main(argv=sys.argv[:1])
