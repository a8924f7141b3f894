# In a source tree of bench:
#
#     git archive --prefix bench-0.1.0/ -o bench-0.1.0.tar.gz HEAD
#     spack repo add packaging/spack
#     spack install --no-checksum bench          # or bench+steps
#     spack install --no-checksum bench+steps+cuda ^py-torch cuda_arch=90
#     spack install --no-checksum bench+steps+rocm ^py-torch amdgpu_target=gfx90a
import os

try:  # where these are since Spack 1.0
    from spack_repo.builtin.build_systems.cmake import CMakePackage, generator
except ImportError:
    pass

from spack.package import *


class Bench(CMakePackage):
    """Declares, runs and compares AI workloads on HPC systems: parameter spaces in YAML, jobs,
    energy, tables. Reads JUBE's input files."""

    license("MIT")

    # bench-VERSION.tar.gz is taken from the directory where spack is called.
    manual_download = True

    version("0.1.0")

    variant("steps", default=False, description="The training programs, with the site's LibTorch")
    variant("http", default=False, description="bench serve, and bench mlflow to servers")
    variant("report", default=False, description="bench report: npm fetches Vega in the build")
    variant("cuda", default=False, when="+steps", description="LibTorch for NVIDIA GPUs")
    variant("rocm", default=False, when="+steps", description="LibTorch for AMD GPUs")

    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")

    depends_on("fmt@9:")
    depends_on("boost@1.74:1.85 +filesystem")
    depends_on("openssl@1.1.1:")
    depends_on("pcre2@10.42:")
    depends_on("yaml-cpp@0.7:")
    depends_on("pugixml@1.13:")
    depends_on("expat@2.4:")
    depends_on("sqlite@3.40:")
    depends_on("nlohmann-json@3.11:")
    depends_on("cli11@2.1:")
    depends_on("libarchive@3.6:")
    depends_on("zlib-api")
    depends_on("npm", type="build", when="+report")
    with when("+http"):
        depends_on("cpp-httplib@0.11:")
        depends_on("openssl@3:")
    depends_on("python@3.6:", type="run")  # for parameters with `mode: python`

    with when("+steps"):
        depends_on("py-torch@1.13:")
        depends_on("py-torch +gloo", when="~rocm")  # Spack has no Gloo with ROCm
        depends_on("py-torch +cuda +nccl", when="+cuda")
        depends_on("py-torch ~cuda", when="~cuda")  # +cuda is its default
        depends_on("py-torch +rocm +nccl", when="+rocm")
        depends_on("openblas threads=openmp")
        conflicts("+cuda", when="+rocm", msg="LibTorch is built for one kind of GPU")

    # Built with bench, from their releases.
    resource(
        name="SQLiteCpp",
        git="https://github.com/SRombauts/SQLiteCpp.git",
        tag="3.3.1",
        destination="with_bench",
        placement="SQLiteCpp",
    )
    resource(
        name="utf8cpp",
        git="https://github.com/nemtrif/utfcpp.git",
        tag="v4.0.5",
        destination="with_bench",
        placement="utf8cpp",
    )

    generator("ninja")

    def url_for_version(self, version):
        return f"file://{os.getcwd()}/bench-{version}.tar.gz"

    def cmake_args(self):
        with_bench = join_path(self.stage.source_path, "with_bench")
        arguments = [
            self.define_from_variant("BENCH_STEPS", "steps"),
            self.define_from_variant("BENCH_HTTP", "http"),
            self.define("BENCH_TESTS", False),
            self.define("BENCH_UNITY", True),
            self.define("BENCH_FETCH", True),
            self.define("FETCHCONTENT_FULLY_DISCONNECTED", True),
            self.define("FETCHCONTENT_SOURCE_DIR_SQLITECPP", join_path(with_bench, "SQLiteCpp")),
            self.define("FETCHCONTENT_SOURCE_DIR_UTF8CPP", join_path(with_bench, "utf8cpp")),
        ]
        if self.spec.satisfies("+steps"):
            arguments.append(
                self.define("CMAKE_PREFIX_PATH", self.spec["py-torch"].package.cmake_prefix_paths)
            )
        return arguments

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_install(self):
        Executable(join_path(self.prefix.bin, "bench"))("platforms")
        Executable(join_path(self.prefix.bin, "bench-energy"))("--list")
