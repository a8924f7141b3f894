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
share/doc/bench/licenses/libssl-dev
share/doc/bench/licenses/libarchive-dev share/doc/bench/licenses/nettle-dev include/bench/energy/regions/region.hpp""".split()


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
            self.assertNotIn(str(pathlib.Path(__file__).parents[2]).encode() + b"/", content)


def commands_of_the_page():
    """The first block of docs/install.md."""
    page = (pathlib.Path(__file__).parents[2] / "docs/install.md").read_text()
    block = re.search(r"\n\n((?:    .*\n)+)", page)[1]
    machine = NAME.rsplit("-", 1)[1]
    return re.sub("^    ", "", block, flags=re.MULTILINE).replace("x86_64", machine)


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
        command = ["env", "-i", f"HOME={inside}", f"MANPATH={inside}/{NAME}/share/man",
                   "PATH=/usr/bin:/bin", "/bin/sh", "-c", script]
        # Mounts of its own, which go with it; in a bare system no network either.
        enter = 'mount -t proc proc "$0/proc"; exec chroot --userspec=' + f'{NOBODY}:{NOBODY} "$0" "$@"'
        command = ["unshare", "--mount", "--net", "sh", "-c", enter, str(system)] + command
        start = time.monotonic()
        run = subprocess.run(command, capture_output=True, text=True, cwd="/", check=False)
        took_s = time.monotonic() - start
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertRegex(run.stdout, r"\| *0\.3 \| *1000 \| *100 \|")
        self.assertIn("MareNostrum5", (home / "platforms").read_text())
        print(f"from the archive to its tables: {took_s:.1f} s", file=sys.stderr)
        self.assertLess(took_s, 60)


unittest.main(argv=sys.argv[:1])
