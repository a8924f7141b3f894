"""The recipes in packaging/ fit CMakeLists.txt, and have what their tools require.

The tools themselves are not needed: a stand-in records what Spack's and EasyBuild's files say.
"""

import ast
import pathlib
import re
import subprocess
import sys
import types
import unittest

ROOT = pathlib.Path(__file__).parents[2]
PACKAGING = ROOT / "packaging"

CMAKE = (ROOT / "CMakeLists.txt").read_text()
VERSION = re.search(r"project\(bench VERSION ([0-9.]+)", CMAKE)[1]
FILES = "\n".join(path.read_text() for path in [
    ROOT / "CMakeLists.txt", ROOT / "src/CMakeLists.txt", ROOT / "steps/CMakeLists.txt",
    ROOT / "cmake/libraries.cmake"])
OPTIONS = set(re.findall(r"option\((BENCH_\w+)", FILES))
FETCHED = dict(re.findall(r"set\(bench_source_of_(\S+) \S+ (\S+)\)", FILES))

# The oldest versions of libraries, by the names that find_package has for them. What an option needs
# in a newer version comes behind what everything needs.
OLDEST = dict(reversed(re.findall(r"(?:find_package|bench_library)\((\S+) ([0-9.]+)", FILES)))
OLDEST["utf8cpp"] = re.search(r"utf8cpp_VERSION VERSION_LESS ([0-9.]+)", FILES)[1]
OLDEST["PCRE2"] = re.search(r"libpcre2-8>=([0-9.]+)", FILES)[1]
OLDEST["cmake"] = re.search(r"cmake_minimum_required\(VERSION ([0-9.]+)", CMAKE)[1]


# What bench cannot be built without, and what its step programs cannot. OpenMP and threads come with
# the compiler.
REQUIRED = set(OLDEST) - {"GTest", "Torch"}
STEPS = "".join((ROOT / folder / "CMakeLists.txt").read_text() for folder in ["steps", "steps/data"])
FOUND_BY_STEPS = set(re.findall(r"(?:bench_library\(|find_package\((?=[^)]*REQUIRED))([\w-]+)", STEPS))
REQUIRED_BY_STEPS = (FOUND_BY_STEPS | {"utf8cpp", "PCRE2"}) - {"OpenMP", "Threads", "PkgConfig"}


def undefined_names(tree, known):
    """Names that a file reads and nobody defines: a recipe's own functions are not called here."""
    stored = {node.id for node in ast.walk(tree)
              if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    stored |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    stored |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import)
               for alias in node.names}
    read = {node.id for node in ast.walk(tree)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    return read - stored - set(known)


def numbers(version):
    return [int(part) for part in re.findall(r"\d+", version)]


class DocumentationTest(unittest.TestCase):
    ROWS = {"CMake, Ninja": "cmake", "fmt": "fmt", "Boost": "Boost", "OpenSSL": "OpenSSL",
            "PCRE2": "PCRE2", "yaml-cpp": "yaml-cpp", "pugixml": "pugixml",
            "nlohmann-json": "nlohmann_json", "CLI11": "CLI11", "LibTorch": "Torch",
            "libarchive": "LibArchive", "zlib": "ZLIB", "utfcpp": "utf8cpp", "Expat": "EXPAT"}

    def test_has_the_oldest_versions_that_cmake_takes(self):
        rows = dict(re.findall(r"(?m)^\| ([^|]+) \| ([0-9., ]+) \|",
                               (ROOT / "docs/how-to/build.md").read_text()))
        self.assertEqual({row: rows[row] for row in self.ROWS},
                         {row: OLDEST[name] for row, name in self.ROWS.items()})
        self.assertEqual(rows["SQLite, SQLiteCpp"], f"{OLDEST['SQLite3']}, {OLDEST['SQLiteCpp']}")
        self.assertLessEqual(REQUIRED - {"SQLite3", "SQLiteCpp"}, set(self.ROWS.values()))


class SpackTest(unittest.TestCase):
    NAMES = {"fmt": "fmt", "boost": "Boost", "openssl": "OpenSSL", "pcre2": "PCRE2",
             "yaml-cpp": "yaml-cpp", "pugixml": "pugixml", "sqlite": "SQLite3",
             "nlohmann-json": "nlohmann_json", "cli11": "CLI11", "cmake": "cmake",
             "py-torch": "Torch", "libarchive": "LibArchive", "expat": "EXPAT"}

    @classmethod
    def setUpClass(cls):
        cls.said = said = {}

        def directive(name):
            def record(*arguments, **named):
                when = " ".join([*conditions, *filter(None, [named.get("when")])])
                said.setdefault(name, []).append((arguments, {**named, "when": when}))
                return lambda function: function
            return record

        conditions = []

        class When:
            def __init__(self, condition):
                self.condition = condition

            def __enter__(self):
                conditions.append(self.condition)

            def __exit__(self, *_):
                conditions.pop()

        spack = types.ModuleType("spack.package")
        for name in ("license", "version", "variant", "depends_on", "conflicts", "resource",
                     "generator", "run_after", "on_package_attributes"):
            setattr(spack, name, directive(name))
        spack.when = When
        spack.CMakePackage = object
        spack.join_path = lambda *parts: "/".join(map(str, parts))
        spack.__all__ = [name for name in vars(spack) if not name.startswith("_")]
        sys.modules["spack"] = types.ModuleType("spack")
        sys.modules["spack.package"] = spack
        scope = {}
        file = PACKAGING / "spack/packages/bench/package.py"
        exec(compile(file.read_text(), file, "exec"), scope)
        cls.recipe = scope["Bench"]

    def test_has_the_version(self):
        self.assertEqual([arguments for arguments, _ in self.said["version"]], [(VERSION,)])

    def test_asks_for_the_oldest_versions_that_cmake_takes(self):
        asked = {}
        for (spec,), _ in self.said["depends_on"]:
            match = re.match(r"([\w-]+)@([0-9.]+):", spec)
            if match and match[1] in self.NAMES:
                asked.setdefault(self.NAMES[match[1]], match[2])  # variants may want newer ones
        self.assertEqual(asked, {name: OLDEST[name] for name in self.NAMES.values()})

    def test_has_every_library_that_cmake_requires(self):
        asked = {re.match(r"[\w-]+", spec)[0] for (spec,), _ in self.said["depends_on"]}
        built = {resource["name"] for _, resource in self.said["resource"]}
        names = {**self.NAMES, "zlib-api": "ZLIB"}
        self.assertLessEqual(REQUIRED, {names.get(name, name) for name in asked | built})

    def test_builds_the_libraries_that_spack_lacks_from_the_versions_of_cmake(self):
        for _, resource in self.said["resource"]:
            self.assertEqual(resource["tag"], FETCHED[resource["name"]])

    def test_sets_options_that_exist(self):
        recipe = self.recipe()
        recipe.stage = types.SimpleNamespace(source_path="src")
        recipe.spec = types.SimpleNamespace(satisfies=lambda spec: False)
        recipe.define = lambda name, value: (name, value)
        recipe.define_from_variant = lambda name, variant: (name, variant)
        names = {name for name, _ in recipe.cmake_args() if name.startswith("BENCH_")}
        self.assertLessEqual(names, OPTIONS)
        self.assertIn("BENCH_STEPS", names)
        torch = types.SimpleNamespace(package=types.SimpleNamespace(cmake_prefix_paths=["torch"]))
        recipe.spec = type("Spec", (dict,), {"satisfies": lambda self, spec: True})({"py-torch": torch})
        self.assertIn(("CMAKE_PREFIX_PATH", ["torch"]), recipe.cmake_args())
        variants = {arguments[0] for arguments, _ in self.said["variant"]}
        self.assertEqual(variants, {"steps", "cuda", "rocm", "http", "report"})
        self.assertTrue(recipe.url_for_version(VERSION).endswith(f"/bench-{VERSION}.tar.gz"))

    # Of spack.package, in versions 1 and 2 of its interface.
    OF_SPACK = ("CMakePackage license version variant depends_on conflicts when resource generator "
                "run_after on_package_attributes join_path Executable").split() + ["ImportError"]

    def test_uses_what_spack_has(self):
        tree = ast.parse((PACKAGING / "spack/packages/bench/package.py").read_text())
        self.assertEqual(undefined_names(tree, self.OF_SPACK), set())
        (recipe,) = [node for node in tree.body if isinstance(node, ast.ClassDef)]
        self.assertEqual((recipe.name, [base.id for base in recipe.bases]),
                         ("Bench", ["CMakePackage"]))  # the name of its folder, in capitals
        self.assertTrue(ast.get_docstring(recipe))
        # Defines of a variant name one that is declared.
        variants = {arguments[0] for arguments, _ in self.said["variant"]}
        for call in ast.walk(tree):
            if isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "define_from_variant":
                self.assertIn(call.args[1].value, variants)

    def test_conditions_name_its_variants(self):
        variants = {arguments[0] for arguments, _ in self.said["variant"]}
        for name in ("variant", "depends_on", "conflicts"):
            for arguments, named in self.said[name]:
                for condition in [named.get("when", "")] + [
                        spec for spec in arguments if name == "conflicts"]:
                    self.assertLessEqual(set(re.findall(r"[+~](\w+)", condition)), variants)

    # Its own variant cuda is on unless told, which wants the kind of GPU. It has no Gloo with ROCm.
    TORCH = {"+steps ~cuda ~rocm": "~cuda +gloo", "+steps +cuda ~rocm": "+cuda +gloo +nccl",
             "+steps ~cuda +rocm": "~cuda +nccl +rocm", "~steps ~cuda ~rocm": ""}

    def test_asks_for_a_torch_that_spack_can_build(self):
        for chosen, torch in self.TORCH.items():
            asked = {variant for (spec,), named in self.said["depends_on"]
                     if spec.startswith("py-torch") and set(named["when"].split()) <= set(chosen.split())
                     for variant in re.findall(r"[+~]\w+", spec)}
            self.assertEqual(asked, set(torch.split()), chosen)

    def test_is_in_a_repository(self):
        self.assertEqual((PACKAGING / "spack/repo.yaml").read_text(),
                         "repo:\n  namespace: bench\n  api: v1.0\n")


class EasyBuildTest(unittest.TestCase):
    REQUIRED = ("name", "version", "homepage", "description", "toolchain", "easyblock",
                "moduleclass", "sanity_check_paths", "sanity_check_commands")

    def configs(self):
        for file in sorted((PACKAGING / "easybuild").glob("*.eb")):
            scope = {"SYSTEM": ("system", "system"), "SOURCE_TAR_GZ": "%(name)s-%(version)s.tar.gz"}
            exec(compile(file.read_text(), file, "exec"), scope)
            yield file, scope

    # Parameters that EasyBuild documents, and constants and templates that its files may use. It
    # takes another name for a mistake, unless it begins with `local_`.
    PARAMETERS = """easyblock name version versionsuffix homepage description docurls toolchain
        toolchainopts sources source_urls checksums patches builddependencies dependencies
        osdependencies start_dir preconfigopts configopts prebuildopts buildopts preinstallopts
        installopts sanity_check_paths sanity_check_commands modextrapaths modextravars modluafooter
        modtclfooter moduleclass""".split()
    CONSTANTS = {"SYSTEM", "SOURCE_TAR_GZ"}
    TEMPLATES = {"name", "version", "versionsuffix", "builddir", "installdir", "pyshortver", "cudaver"}

    def test_consists_of_parameters_that_easybuild_knows(self):
        for file in sorted((PACKAGING / "easybuild").glob("*.eb")):
            tree = ast.parse(file.read_text(), file.name)
            for statement in tree.body:
                self.assertIsInstance(statement, (ast.Assign, ast.AugAssign), file.name)
                for target in getattr(statement, "targets", None) or [statement.target]:
                    self.assertTrue(target.id in self.PARAMETERS or target.id.startswith("local_"),
                                    f"{file.name}:{statement.lineno}: {target.id}")
            self.assertLessEqual(undefined_names(tree, self.CONSTANTS), {"sorted"}, file.name)
            templates = set(re.findall(r"%%?\((\w+)\)s", file.read_text()))
            self.assertLessEqual(templates, self.TEMPLATES, file.name)

    def test_every_file_is_a_source_of_bench_or_a_tag(self):
        for file, config in self.configs():
            own = [source if isinstance(source, str) else source["filename"]
                   for source in config["sources"]]
            self.assertRegex(own[0].replace("%(name)s", config["name"]), r"^bench-%\(version\)s\.tar\.gz$")
            for source in config["sources"][1:]:
                self.assertEqual(set(source), {"source_urls", "download_filename", "filename",
                                               "extract_cmd"}, file.name)
                self.assertEqual(source["extract_cmd"].count("%s"), 1)

    def test_checks_files_that_bench_installs(self):
        config = dict((config["name"], config) for _, config in self.configs())["bench"]
        install = FILES + (ROOT / "src/CMakeLists.txt").read_text()
        for path in config["sanity_check_paths"]["files"] + config["sanity_check_paths"]["dirs"]:
            self.assertIn(pathlib.Path(path).name, install, path)

    def test_there_is_one_for_the_orchestrator_and_one_for_the_steps(self):
        self.assertEqual({config["name"] for _, config in self.configs()}, {"bench", "bench-steps"})

    def test_has_what_easybuild_requires_under_the_name_that_it_expects(self):
        for file, config in self.configs():
            for field in self.REQUIRED:
                self.assertTrue(config.get(field), f"{file.name}: {field}")
            toolchain = config["toolchain"]
            suffix = config.get("versionsuffix", "").replace("%(cudaver)s", "12.1.1")
            self.assertEqual(file.name, f"{config['name']}-{VERSION}-{toolchain['name']}-"
                                        f"{toolchain['version']}{suffix}.eb")
            self.assertEqual(config["version"], VERSION)
            self.assertEqual(set(config["sanity_check_paths"]), {"files", "dirs"})

    NAMES = {"fmt": "fmt", "OpenSSL": "OpenSSL", "PCRE2": "PCRE2", "yaml-cpp": "yaml-cpp",
             "pugixml": "pugixml", "SQLite": "SQLite3", "nlohmann_json": "nlohmann_json",
             "Boost": "Boost", "CMake": "cmake", "PyTorch": "Torch", "libarchive": "LibArchive",
             "zlib": "ZLIB", "expat": "EXPAT"}

    def test_has_every_library_that_cmake_requires(self):
        for _, config in self.configs():
            required = REQUIRED if config["name"] == "bench" else REQUIRED_BY_STEPS
            asked = {dependency[0]
                     for dependency in config["dependencies"] + config["builddependencies"]}
            built = {name for name in FETCHED
                     if f"{name}-{FETCHED[name]}.tar.gz"
                     in [source["filename"] for source in config["sources"] if isinstance(source, dict)]}
            self.assertLessEqual(required, {self.NAMES.get(name, name) for name in asked | built})

    def test_sets_options_that_exist(self):
        for file, config in self.configs():
            names = set(re.findall(r"-D(BENCH_\w+)=", config["configopts"]))
            self.assertLessEqual(names, OPTIONS, file.name)

    def test_dependencies_are_new_enough(self):
        for file, config in self.configs():
            for dependency in config["dependencies"] + config["builddependencies"]:
                name = self.NAMES.get(dependency[0])
                # OpenSSL's `1.1` is a module around the one of the system, 1.1.1.
                if name and name != "OpenSSL":
                    self.assertGreaterEqual(numbers(dependency[1]), numbers(OLDEST[name]),
                                            f"{file.name}: {name}")

    def test_libraries_built_with_it_are_those_of_cmake(self):
        for file, config in self.configs():
            fetched = re.findall(r"-DFETCHCONTENT_SOURCE_DIR_(\w+)=", config["configopts"])
            names = {name.upper(): (name, tag) for name, tag in FETCHED.items()}
            sources = [source["filename"] for source in config["sources"] if isinstance(source, dict)]
            for library in fetched:
                name, tag = names[library]
                self.assertIn(f"{name}-{tag}.tar.gz", sources, file.name)

    def test_completion_is_in_the_footer_of_the_module(self):
        config = dict((config["name"], config) for _, config in self.configs())["bench"]
        self.assertIn("share/bash-completion/completions/bench", config["modluafooter"])


class ApptainerTest(unittest.TestCase):
    # The sections that Apptainer documents.
    SECTIONS = {"pre", "setup", "files", "post", "environment", "test", "runscript", "startscript",
                "labels", "help", "arguments"}

    def sections(self):
        for file in (PACKAGING / "apptainer").glob("*.def"):
            header, *rest = re.split(r"(?m)^%(\w+)\n", file.read_text())
            yield file, header, dict(zip(rest[::2], rest[1::2]))

    def test_has_sections_that_apptainer_knows(self):
        for file, header, sections in self.sections():
            self.assertLessEqual(set(sections), self.SECTIONS, file.name)
            keys = [line.split(":")[0] for line in header.splitlines()
                    if line and not line.startswith("#")]
            self.assertEqual(keys, ["Bootstrap", "From"], file.name)

    def test_its_scripts_are_of_the_shell(self):
        for file, _, sections in self.sections():
            for name in ("post", "test", "runscript", "environment"):
                run = subprocess.run(["sh", "-n"], input=sections[name], text=True,
                                     capture_output=True, check=False)
                self.assertEqual(run.stderr, "", f"{file.name}: %{name}")

    BUILD = (PACKAGING / "apptainer/build-and-install").read_text()

    def test_builds_from_the_file_that_its_first_lines_make(self):
        for file, header, sections in self.sections():
            made = re.search(r"git archive --prefix (\S+)/ -o (\S+) HEAD", header)
            self.assertEqual(sections["files"].split(), [made[2], "/src/"], file.name)
            self.assertIn(f"/src/{made[2]}", sections["post"], file.name)
            self.assertIn(f"/src/{made[1]}/packaging/apptainer/build-and-install", sections["post"])
            self.assertIn(f"packaging/apptainer/{file.name}", header)

    def test_there_is_one_for_each_kind_of_processor(self):
        self.assertEqual({file.name for file, _, _ in self.sections()},
                         {f"bench-steps-{kind}.def" for kind in ("nvidia", "amd", "cpu")})

    def test_programs_of_the_benchmarks_are_on_the_path(self):
        install = (ROOT / "steps/CMakeLists.txt").read_text()
        folder = re.search(r"DESTINATION \$\{CMAKE_INSTALL_LIBEXECDIR\}/(bench/steps)", install)[1]
        prefix = re.search(r"-DCMAKE_INSTALL_PREFIX=(\S+)", self.BUILD)[1]
        for file, _, sections in self.sections():
            run = subprocess.run(["sh", "-c", sections["environment"] + 'echo "$PATH"'], text=True,
                                 capture_output=True, check=True, env={"PATH": "/usr/bin:/bin"})
            self.assertEqual(run.stdout, f"{prefix}/libexec/{folder}:/usr/bin:/bin\n", file.name)

    def test_has_its_sections_and_the_version(self):
        for file in (PACKAGING / "apptainer").glob("*.def"):
            text = file.read_text()
            self.assertRegex(text, r"(?m)^Bootstrap: \w+\nFrom: \S+$")
            sections = re.findall(r"(?m)^%(\w+)", text)
            self.assertEqual(sorted(sections), sorted(set(sections)))
            self.assertLessEqual({"files", "post", "test", "runscript", "labels", "help"},
                                 set(sections))
            self.assertIn(f"org.opencontainers.image.version {VERSION}\n", text)
            self.assertEqual(set(re.findall(r"bench-([0-9.]+[0-9])\b", text)), {VERSION})
        self.assertLessEqual(set(re.findall(r"-D(BENCH_\w+)=", self.BUILD)), OPTIONS)

    def test_installs_the_packages_of_the_documentation(self):
        documented = (ROOT / "docs/how-to/build.md").read_text()
        # What is needed for everything, or for bench alone.
        needed = set()
        for row in re.findall(r"(?m)^\|.*\|$", documented):
            if not re.search(r"optional|step programs|tests \||any \| `pkg", row):
                needed |= set(re.findall(r"`(lib[\w+.-]+-dev|nlohmann-json3-dev|zlib1g-dev)`", row))
        self.assertLessEqual(needed, set(self.BUILD.split()))
        for text in [self.BUILD, *(sections["post"] for _, _, sections in self.sections())]:
            for package in set(re.findall(r"\b(lib[\w+.-]+-dev|nlohmann-json3-dev)\b", text)):
                self.assertIn(f"`{package}`", documented)


unittest.main()
