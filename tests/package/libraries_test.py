"""What CMake says of libraries that are missing or too old, and what it downloads: nothing unless told.

Stand-ins for libraries have a version and nothing else. CMake looks for them in a script, without a
compiler.
"""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).parents[2]
FILES = {name: (ROOT / name).read_text() for name in ["src/CMakeLists.txt", "cmake/libraries.cmake"]}
# Those that have CMake files of their own, and are downloaded with BENCH_FETCH.
SMALL = dict(re.findall(r"(?m)^bench_library\((\S+) ([0-9.]+)\)", FILES["src/CMakeLists.txt"]))

VERSION_FILE = """set(PACKAGE_VERSION %s)
if(NOT PACKAGE_VERSION VERSION_LESS PACKAGE_FIND_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
"""


def one_less(version):
    *first, last = [int(part) for part in version.split(".")]
    return ".".join(map(str, [*first, last - 1, 9] if last else [first[0] - 1, 99]))


class LibrariesTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.here = pathlib.Path(directory.name)
        # A download calls it.
        self.write("bin/git", f"#!/bin/sh\necho \"$@\" >> {self.here}/called\nexit 1\n").chmod(0o755)

    def write(self, name, text):
        file = self.here / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def cmake(self, text, *options, **variables):
        """What a script of CMake says; its exit code."""
        environment = {**os.environ, **variables,
                       "PATH": f"{self.here}/bin:{os.environ['PATH']}"}
        script = self.write("script.cmake", text)
        run = subprocess.run(["cmake", f"-DCMAKE_PREFIX_PATH={self.here}",
                              "-DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF",
                              "-DCMAKE_FIND_USE_SYSTEM_ENVIRONMENT_PATH=OFF", *options, "-P", script],
                             capture_output=True, text=True, check=False, env=environment)
        self.assertFalse((self.here / "called").exists())
        return run.returncode, " ".join((run.stdout + run.stderr).split())

    def find(self, library, oldest):
        return self.cmake(f"include({ROOT}/cmake/libraries.cmake)\nbench_library({library} {oldest})\n")

    def install(self, library, version):
        directory = f"lib/cmake/{library}"
        self.write(f"{directory}/{library}Config.cmake", "")
        self.write(f"{directory}/{library}ConfigVersion.cmake", VERSION_FILE % version)

    def test_the_small_ones_are_known(self):
        self.assertEqual(set(SMALL), {"fmt", "yaml-cpp", "CLI11", "pugixml", "nlohmann_json", "SQLiteCpp"})

    def test_one_that_is_too_old_is_named_with_its_version_and_what_to_do(self):
        for library, oldest in SMALL.items():
            with self.subTest(library):
                self.install(library, one_less(oldest))
                code, said = self.find(library, oldest)
                self.assertEqual(code, 1, said)
                self.assertIn(f"{library} {oldest} or newer is needed. Found: {one_less(oldest)}", said)
                self.assertIn("-DBENCH_FETCH=ON", said)

    def test_one_that_is_missing_is_named(self):
        code, said = self.find("fmt", "9")
        self.assertEqual(code, 1)
        self.assertIn("fmt 9 or newer is needed. Found: none", said)

    def test_the_oldest_and_a_newer_one_are_taken(self):
        for library, oldest in SMALL.items():
            for version in (oldest, "99.1"):
                with self.subTest(library, version=version):
                    self.install(library, version)
                    self.assertEqual(self.find(library, oldest), (0, ""))

    # What CMake's own modules read: the line of src/CMakeLists.txt, a header with a version that is
    # too old, and settings that name it.
    OLD = [
        ("find_package(SQLite3 3.40 REQUIRED)", "sqlite3.h", '#define SQLITE_VERSION "3.39.4"\n',
         ["SQLite3_INCLUDE_DIR={}", "SQLite3_LIBRARY=/dev/null"], "3.39.4"),
        ("find_package(LibArchive 3.6 REQUIRED)", "archive.h",
         '#define ARCHIVE_VERSION_STRING "libarchive 3.5.3"\n',
         ["LibArchive_INCLUDE_DIR={}", "LibArchive_LIBRARY=/dev/null"], "3.5.3"),
        ("find_package(Boost 1.74 REQUIRED COMPONENTS filesystem)", "boost/version.hpp",
         "#define BOOST_VERSION 107300\n",
         ["Boost_INCLUDE_DIR={}", "Boost_FILESYSTEM_LIBRARY_RELEASE=/dev/null",
          "Boost_NO_BOOST_CMAKE=ON"], "1.73.0"),
        ("find_package(ZLIB 1.2 REQUIRED)", "zlib.h",
         '#define ZLIB_VERSION "1.1.4"\n#define ZLIB_VER_MAJOR 1\n#define ZLIB_VER_MINOR 1\n'
         '#define ZLIB_VER_REVISION 4\n',
         ["ZLIB_INCLUDE_DIR={}", "ZLIB_LIBRARY=/dev/null"], "1.1.4"),
        ("find_package(EXPAT 2.4 REQUIRED)", "expat.h",
         "#define XML_MAJOR_VERSION 2\n#define XML_MINOR_VERSION 3\n#define XML_MICRO_VERSION 9\n",
         ["EXPAT_INCLUDE_DIR={}", "EXPAT_LIBRARY=/dev/null"], "2.3.9"),
        ("find_package(OpenSSL 1.1.1 REQUIRED COMPONENTS Crypto)", "openssl/opensslv.h",
         '# define OPENSSL_VERSION_NUMBER  0x1000214fL\n',
         ["OPENSSL_INCLUDE_DIR={}", "OPENSSL_CRYPTO_LIBRARY=/dev/null"], "1.0.2"),
    ]

    def test_the_others_are_refused_if_too_old(self):
        for line, header, text, settings, found in self.OLD:
            with self.subTest(line):
                self.assertIn(line + "\n", FILES["src/CMakeLists.txt"])
                self.write("include/" + header, text)
                code, said = self.cmake(line, *["-D" + setting.format(self.here / "include")
                                                for setting in settings])
                self.assertEqual(code, 1, said)
                self.assertRegex(said, f'Found unsuitable version "{re.escape(found)}')

    def test_an_older_pcre2_is_refused(self):
        self.write("pc/libpcre2-8.pc", "Name: p\nDescription: p\nVersion: 10.41\n")
        line = re.search(r"pkg_check_modules\(PCRE2 .*\)", FILES["src/CMakeLists.txt"])[0]
        code, said = self.cmake("find_package(PkgConfig REQUIRED)\n" + line,
                                PKG_CONFIG_LIBDIR=f"{self.here}/pc", PKG_CONFIG=shutil.which("pkg-config"))
        self.assertEqual(code, 1)
        self.assertIn("10.41", said)


class FetchTest(unittest.TestCase):
    PROJECT = f"""cmake_minimum_required(VERSION 3.25)
project(test LANGUAGES NONE)
include({ROOT}/cmake/libraries.cmake)
bench_library(fmt 9)
"""

    def test_what_is_missing_comes_from_a_mirror_if_asked_for(self):
        tag = re.search(r"bench_source_of_fmt \S+ (\S+)\)", FILES["cmake/libraries.cmake"])[1]
        with tempfile.TemporaryDirectory() as directory:
            here = pathlib.Path(directory)
            mirror = here / "mirror/fmtlib/fmt.git"
            mirror.mkdir(parents=True)
            (mirror / "CMakeLists.txt").write_text('message(STATUS "fmt of the mirror")\n')
            git = ["git", "-C", mirror, "-c", "user.name=a", "-c", "user.email=a"]
            for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "a"], ["tag", tag]):
                subprocess.run([*git, *command], check=True)
            (here / "CMakeLists.txt").write_text(self.PROJECT)
            # Without the mirror: any other place is refused.
            (here / "gitconfig").write_text(f'[url "file://{here}/mirror/"]\n'
                                            "insteadOf = https://github.com/\n"
                                            '[protocol]\nallow = never\n[protocol "file"]\nallow = always\n')
            environment = {**os.environ, "GIT_CONFIG_GLOBAL": str(here / "gitconfig")}

            def configure(*options):
                run = subprocess.run(["cmake", "-S", here, "-B", here / "build",
                                      "-DCMAKE_DISABLE_FIND_PACKAGE_fmt=ON", *options],
                                     capture_output=True, text=True, check=False, env=environment)
                return run.returncode, run.stdout + run.stderr

            code, said = configure()
            self.assertEqual(code, 1, said)
            self.assertFalse((here / "build/_deps").exists())
            code, said = configure("-DBENCH_FETCH=ON")
            self.assertEqual(code, 0, said)
            self.assertIn(f"fmt {tag} is built with bench", said)
            self.assertIn("fmt of the mirror", said)


unittest.main()
