#include "ask.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/base/time.hpp>
#include <bench/insight/doctor.hpp>
#include <bench/machine/batch_system.hpp>
#include <bench/machine/platform.hpp>
#include <bench/machine/systems.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workspace.hpp>
#include <bench/workspace/writer_lock.hpp>

namespace bench::insight {
namespace {

using CheckResults = std::vector<CheckResult>;

// The system.

/// 4 and 18 of `4.18.0-553.el8`.
std::optional<std::pair<long long, long long>> version_in(const std::string& text) {
  const auto parts = split(text, ".");
  if (parts.size() < 2)
    return std::nullopt;
  const auto first = parse_integer(parts[0]);
  const auto second = parse_integer(parts[1].substr(0, parts[1].find_first_not_of("0123456789")));
  if (!first || !second)
    return std::nullopt;
  return std::pair{*first, *second};
}

CheckResults check_kernel(const System&) {
  utsname system{};
  ::uname(&system);
  const std::string text = fmt::format("{} {} {}", system.sysname, system.release, system.machine);
  const auto version = version_in(system.release);
  if (version && *version < std::pair{4LL, 18LL})
    return {{"", Health::warning, text + " is older than 4.18",
             "bench does not support it: use a node with a newer system"}};
  return {{"", Health::ok, text, ""}};
}

CheckResults check_libc(const System&) {
  std::string text(64, '\0');
  const std::size_t size = ::confstr(_CS_GNU_LIBC_VERSION, text.data(), text.size());
  if (size == 0)
    return {{"", Health::warning, "the C library is not glibc",
             "vendors' libraries, such as NVML, may not load: use a system with glibc"}};
  text.resize(size - 1);
  return {{"", Health::ok, text, ""}};
}

CheckResults check_clock(const System& system) {
  const std::string source = first_line_of(
      system.root / "sys/devices/system/clocksource/clocksource0/current_clocksource");
  if (source.empty())
    return {{"", Health::warning, "cannot determine the kernel's clock source",
             "check that /sys is mounted, or ask the administrator"}};
  // Reading these goes through a device and takes a microsecond or more.
  constexpr std::array<std::string_view, 5> slow{"hpet", "acpi_pm", "jiffies", "pit",
                                                 "refined-jiffies"};
  if (std::ranges::find(slow, source) != slow.end())
    return {{"", Health::warning, fmt::format("clock source {} is slow to read", source),
             "ask the administrator why the kernel does not trust the processor's own clock "
             "(`dmesg | grep -i clocksource`)"}};
  return {{"", Health::ok, "clock source " + source, ""}};
}

// The file system of the runs.

namespace fs = std::filesystem;

constexpr const char* use_elsewhere = "use another directory with --outpath";

std::string name_of(const System& system) {
  std::error_code unknown;
  const fs::path path = fs::canonical(system.directory, unknown);
  return unknown ? system.directory.string() : path.string();
}

/// A temporary directory beside the runs.
DirectoryRemoval make_scratch(const System& system) {
  const fs::path path = system.directory / fmt::format(".bench-doctor-{}", ::getpid());
  std::error_code failed;
  fs::create_directory(path, failed);
  if (failed)
    throw Error(
        Id::system_error,
        fmt::format("cannot create a directory in {}: {}", name_of(system), failed.message()),
        use_elsewhere);
  return DirectoryRemoval(path);
}

/// Magic numbers of statfs(2) and, of those that Linux does not have, of their projects.
std::string name_of_file_system(const fs::path& directory) {
  struct Kind {
    std::uint32_t magic;
    const char* name;
  };
  constexpr std::array<Kind, 19> kinds{{{0xEF53, "ext4"},
                                        {0x58465342, "xfs"},
                                        {0x9123683E, "btrfs"},
                                        {0x01021994, "tmpfs"},
                                        {0x794C7630, "overlay"},
                                        {0xF2F52010, "f2fs"},
                                        {0x2FC12FC1, "zfs"},
                                        {0xCA451A4E, "bcachefs"},
                                        {0x6969, "NFS"},
                                        {0x0BD00BD0, "Lustre"},
                                        {0x47504653, "GPFS"},
                                        {0x19830326, "BeeGFS"},
                                        {0x00C36400, "CephFS"},
                                        {0xAAD7AAEA, "PanFS"},
                                        {0x65735546, "FUSE"},
                                        {0xFF534D42, "CIFS"},
                                        {0xFE534D42, "SMB2"},
                                        {0x01021997, "9p"},
                                        {0x7C7C6673, "DVS"}}};
  struct statfs info {};
  if (::statfs(directory.c_str(), &info) != 0)
    throw Error::of_system("cannot determine the file system of " + directory.string(), errno,
                           use_elsewhere);
  const auto magic = static_cast<std::uint32_t>(info.f_type);
  for (const Kind& kind : kinds)
    if (kind.magic == magic)
      return kind.name;
  return fmt::format("unknown ({:#x})", magic);
}

std::string gigabytes(double bytes) {
  return fmt::format("{:.{}f} GB", bytes / 1e9, bytes < 10e9 ? 1 : 0);
}

CheckResults check_file_system(const System& system) {
  const bool local = workspace::on_local_file_system(system.directory);
  return {{"", Health::ok,
           fmt::format("{} is {}{}", name_of(system), name_of_file_system(system.directory),
                       local ? "" : ", not on a disk of this machine"),
           ""}};
}

CheckResults check_space(const System& system) {
  struct statvfs info {};
  if (::statvfs(system.directory.c_str(), &info) != 0)
    throw Error::of_system("cannot determine the free space", errno, use_elsewhere);
  constexpr double least_bytes = 1e9;
  constexpr double least_files = 10'000;
  const double bytes = static_cast<double>(info.f_bavail) * static_cast<double>(info.f_frsize);
  const auto files = static_cast<double>(info.f_favail);
  const bool counts_files = info.f_files > 0;  // some create inodes on demand
  std::string text = gigabytes(bytes) + " free";
  if (counts_files)
    text += fmt::format(", room for {:.0f} files", files);
  if (bytes < least_bytes || (counts_files && files < least_files))
    return {{"", Health::warning, text,
             "a workpackage needs a dozen files: remove old runs (`bench remove`), or put new ones "
             "in another directory with --outpath"}};
  return {{"", Health::ok, text, ""}};
}

CheckResults check_locks(const System& system) {
  const DirectoryRemoval scratch = make_scratch(system);
  const workspace::WriterLock lock(scratch.path());
  if (workspace::WriterLock::take_if_free(scratch.path()))
    return {
        {"", Health::error, "file locks do not work here: a second process gets the same lock",
         fmt::format("two bench processes could write to the same run: {}, or have the file system "
                     "mounted with locks (Lustre: -o flock)",
                     use_elsewhere)}};
  return {{"", Health::ok, "files can be locked", ""}};
}

CheckResults check_database(const System& system) {
  const DirectoryRemoval scratch = make_scratch(system);
  const std::string written = "doctor";
  workspace::Workspace::create(scratch.path(), {{"benchmark", written}});
  const auto reader =
      workspace::Workspace::open(scratch.path(), workspace::Workspace::Access::read);
  if (reader.fact("benchmark") != written)
    return {{"", Health::error, "SQLite cannot read back what it wrote", use_elsewhere}};
  return {{"", Health::ok,
           workspace::on_local_file_system(scratch.path())
               ? "SQLite works, with a write-ahead log"
               : "SQLite works, with a rollback journal: a write-ahead log needs a local disk",
           ""}};
}

CheckResults check_small_files(const System& system) {
  using Clock = std::chrono::steady_clock;
  constexpr int wanted = 100;
  constexpr double most_s = 5;
  constexpr double slow_s = 1;
  const DirectoryRemoval scratch = make_scratch(system);
  const std::string content(1024, 'x');
  const auto begin = Clock::now();
  const auto passed_s = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  int count = 0;
  for (; count < wanted && passed_s() < most_s; ++count)
    write_file_atomically(scratch.path() / std::to_string(count), content);
  const double time_s = passed_s();
  const std::string text = fmt::format("{} files of 1 KiB in {:.3f} s", count, time_s);
  if (time_s > slow_s)
    return {{"", Health::warning, text,
             fmt::format("a run creates a dozen files per workpackage: {}", use_elsewhere)}};
  return {{"", Health::ok, text, ""}};
}

// Programs that expressions and steps need.

std::string variable_or(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value && *value ? value : otherwise;
}

/// A program that only some input files need.
CheckResult optional_program(const std::string& name, const Answer& answer, const std::string& text,
                             const std::string& need, const std::string& remedy) {
  if (!answer.found)
    return {"", Health::warning, fmt::format("no {}: {}", name, need), remedy};
  if (!answer.ok)
    return {"", Health::error, fmt::format("{}: {}", name, answer.failure), remedy};
  return {"", Health::ok, text, ""};
}

CheckResults check_python(const System&) {
  const std::string name = variable_or("BENCH_PYTHON", "python3");
  const Answer answer =
      ask({name, "-I", "-c", "import sys; print('%d.%d.%d' % sys.version_info[:3])"});
  return {optional_program(name, answer, "Python " + answer.output,
                           "`mode: python`, `where` and `active` need it",
                           "install Python 3, or name one in BENCH_PYTHON")};
}

CheckResults check_perl(const System&) {
  const Answer answer = ask({"perl", "-e", "print $^V"});
  // Rarely needed, so not a warning.
  if (!answer.found)
    return {{"", Health::ok, "no perl; only `mode: perl` needs it", ""}};
  return {optional_program("perl", answer, "Perl " + answer.output, "", "install Perl")};
}

CheckResults check_shell(const System&) {
  const std::string name = variable_or("JUBE_EXEC_SHELL", "/bin/sh");
  const Answer answer = ask({name, "-c", "echo works"});
  const std::string remedy = "commands of all steps need it: set JUBE_EXEC_SHELL to a shell";
  if (!answer.found)
    return {{"", Health::error, fmt::format("no shell '{}'", name), remedy}};
  if (!answer.ok)
    return {{"", Health::error, fmt::format("{}: {}", name, answer.failure), remedy}};
  if (answer.output != "works")
    return {{"", Health::warning,
             fmt::format("{} prints text of its own: {}", name, one_line(answer.output)),
             "its text would end up in analysed output: remove it from the file named by ENV or "
             "BASH_ENV"}};
  return {{"", Health::ok, fmt::format("{} works", name), ""}};
}

CheckResults check_bash(const System&) {
  const Answer answer = ask({"bash", "-c", "echo $BASH_VERSION"});
  return {optional_program("bash", answer, "bash " + answer.output, "job scripts need it",
                           "install bash")};
}

CheckResults check_platforms(const System& system) {
  const auto all = machine::load_platforms(system.directory);
  CheckResults findings;
  for (const machine::LoadedPlatform& one : all)
    if (one.error)
      findings.push_back(
          {"", Health::error, fmt::format("{}: {}", one.found.file.string(), one.error->message()),
           one.error->hint().empty() ? "correct the file, or remove it" : one.error->hint()});
  if (findings.empty())
    findings.push_back({"", Health::ok,
                        fmt::format("{} platform files; bench's own are in {}", all.size(),
                                    machine::share_directory().string()),
                        ""});
  return findings;
}

// The batch system.

/// The submit command, which identifies a batch system.
struct Submitter {
  const char* program;
  const char* name;
  const char* kind;  ///< Its name in platform files.
  std::vector<std::string> version;
  /// Lists jobs or queues, which no server that is down does. Empty: the check of partitions asks.
  std::vector<std::string> question;
};

const std::vector<Submitter>& submitters() {
  static const std::vector<Submitter> all{
      {"sbatch", "Slurm", "slurm", {"sbatch", "--version"}, {}},
      {"flux", "Flux", "flux", {"flux", "--version"}, {"flux", "jobs"}},
      {"qsub", "PBS or Grid Engine", "pbs", {}, {"qstat"}},
      {"bsub", "LSF", "lsf", {}, {"bqueues"}},
      {"pjsub", "PJM", "pjm", {}, {"pjstat"}}};
  return all;
}

const Submitter* submitter() {
  for (const Submitter& one : submitters())
    if (!find_program(one.program).empty())
      return &one;
  return nullptr;
}

/// The batch system if bench supports it natively; null if there is none, or if it needs a platform
/// file with `commands`.
std::unique_ptr<machine::BatchSystem> batch_system() {
  machine::limit_answers(patience_s);
  const Submitter* found = submitter();
  const machine::SystemKind* kind = found ? machine::find_system(found->kind) : nullptr;
  return kind && !kind->needs_commands ? kind->make({}) : nullptr;
}

std::string text_of(const machine::Partition& partition) {
  std::vector<std::string> facts;
  if (partition.is_default)
    facts.emplace_back("default");
  facts.push_back(
      fmt::format("{} node{}", partition.max_nodes, partition.max_nodes == 1 ? "" : "s"));
  if (const int gpus = partition.most_gpus_per_node.value_or(0); gpus > 0)
    facts.push_back(fmt::format("{} GPUs per node", gpus));
  if (partition.max_time_s)
    facts.push_back(human_duration(*partition.max_time_s));
  if (!partition.takes_jobs)
    facts.emplace_back("takes no jobs");
  return fmt::format("{} ({})", partition.name, join(facts, ", "));
}

CheckResults check_scheduler(const System&) {
  const Submitter* found = submitter();
  if (!found)
    return {{"", Health::ok, "none: steps run on this machine", ""}};
  std::string text = fmt::format("{}: `{}` is on PATH", found->name, found->program);
  for (const auto& question : {found->version, found->question}) {
    if (question.empty())
      continue;
    const Answer answer = ask(question);
    if (!answer.found)
      return {{"", Health::warning, fmt::format("{}, `{}` is not", text, question.front()),
               "bench learns from its sentinel files how jobs end, and from the batch system "
               "whether they wait"}};
    if (!answer.ok)
      return {{"", Health::error, fmt::format("{}: {}", question.front(), answer.failure),
               "jobs cannot be submitted: ask the administrator"}};
    if (question == found->version)
      text = split(answer.output, "\n").front();
  }
  return {{"", Health::ok, text, ""}};
}

CheckResults check_partitions(const System&) {
  const auto system = batch_system();
  if (!system)
    return {};
  const machine::Partitions partitions = system->ask_partitions();
  if (!partitions.failure.empty())
    return {{"", Health::error, partitions.failure,
             "jobs wait while the batch system does not answer; `bench continue` collects them "
             "later"}};
  if (!partitions.known)
    return {};
  std::vector<std::string> texts;
  constexpr std::size_t shown = 8;
  for (const machine::Partition& partition : partitions.all)
    if (texts.size() < shown)
      texts.push_back(text_of(partition));
  if (partitions.all.size() > shown)
    texts.push_back(fmt::format("and {} more", partitions.all.size() - shown));
  if (std::ranges::none_of(partitions.all, &machine::Partition::takes_jobs))
    return {{"", Health::error, "no partition takes jobs: " + join(texts, ", "),
             "wait, or ask the administrator"}};
  return {{"", Health::ok, join(texts, ", "), ""}};
}

CheckResults check_accounting(const System&) {
  const auto system = batch_system();
  if (find_program("sbatch").empty() || !system->ask_partitions().failure.empty())
    return {};  // the check of partitions says why
  const Answer answer = ask({"sacct", "-n", "-X", "-S", "now", "-o", "JobID"});
  if (!answer.ok)
    return {{"", Health::warning,
             "no accounting: " + (answer.found ? answer.failure : "sacct is not installed"),
             "no action needed: without accounting, bench learns from its sentinel file how a job "
             "ended"}};
  return {{"", Health::ok, "sacct answers", ""}};
}

CheckResults check_accounts(const System&) {
  const auto system = batch_system();
  if (!system || !system->ask_partitions().failure.empty())
    return {};
  std::vector<std::string> accounts;
  for (const machine::Association& one : system->ask_associations())
    accounts.push_back(one.qos.empty()
                           ? one.account
                           : fmt::format("{} (QOS {})", one.account, join(one.qos, ", ")));
  if (accounts.empty())
    return {{"", Health::ok, "the batch system lists no account for you", ""}};
  return {{"", Health::ok, join(accounts, ", "), ""}};
}

CheckResults check_limits(const System&) {
  const auto system = batch_system();
  if (!system || !system->ask_partitions().failure.empty())
    return {};  // the check of partitions says why
  const int size = system->max_array_size();
  return {{"", Health::ok,
           size > 1 ? fmt::format("job arrays of up to {} tasks", size) : "no job arrays", ""}};
}

// GPUs and sensors.

/// Vendor libraries may take seconds to start.
constexpr double slow_start_s = 12;

/// `4 x NVIDIA A100`, from one line per GPU.
std::string counted(const std::vector<std::string>& names) {
  std::map<std::string, int> counts;
  for (const std::string& name : names)
    ++counts[name];
  std::vector<std::string> texts;
  for (const auto& [name, count] : counts)
    texts.push_back(fmt::format("{} x {}", count, name));
  return join(texts, ", ");
}

bool is_present(const std::filesystem::path& path) {
  std::error_code unreadable;
  return std::filesystem::exists(path, unreadable);
}

void check_nvidia(const System& system, CheckResults& findings) {
  const bool loaded = is_present(system.root / "proc/driver/nvidia/version");
  const Answer answer =
      ask({"nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"}, slow_start_s);
  if (!answer.found && loaded)
    findings.push_back({"", Health::warning,
                        "the NVIDIA driver is loaded, but nvidia-smi is missing",
                        "install the driver's tools, or add them to PATH"});
  if (answer.found && !answer.ok)
    findings.push_back(
        {"", loaded ? Health::error : Health::warning,
         fmt::format("nvidia-smi: {}",
                     answer.output.empty() ? answer.failure : one_line(answer.output)),
         loaded ? "GPUs cannot be used: ask the administrator, or try another node"
                : "no action needed if this node has no GPU"});
  if (!answer.ok || answer.output.empty())
    return;
  std::vector<std::string> names;
  std::string driver;
  for (const std::string& line : split(answer.output, "\n")) {
    const auto fields = split_values(line, ",");
    names.push_back(fields.front());
    driver = fields.back();
  }
  findings.push_back({"", Health::ok, fmt::format("{}, driver {}", counted(names), driver), ""});
}

void check_amd(const System& system, CheckResults& findings) {
  if (!is_present(system.root / "sys/module/amdgpu"))
    return;
  const Answer answer = ask({"rocm-smi", "--showproductname", "--csv"}, slow_start_s);
  if (!answer.found) {
    findings.push_back({"", Health::ok, "the AMD driver is loaded; there is no rocm-smi", ""});
    return;
  }
  if (!answer.ok) {
    findings.push_back({"", Health::error, "rocm-smi: " + answer.failure,
                        "GPUs cannot be used: ask the administrator, or try another node"});
    return;
  }
  std::vector<std::string> names;
  for (const std::string& line : split(answer.output, "\n"))
    if (const auto fields = split_values(line, ","); line.starts_with("card") && fields.size() > 1)
      names.push_back(fields[1]);
  const std::string driver = first_line_of(system.root / "sys/module/amdgpu/version");
  findings.push_back(
      {"", Health::ok, counted(names) + (driver.empty() ? "" : ", driver " + driver), ""});
}

CheckResults check_gpus(const System& system) {
  CheckResults findings;
  check_nvidia(system, findings);
  check_amd(system, findings);
  if (findings.empty())
    findings.push_back({"", Health::ok, "none", ""});
  return findings;
}

CheckResults check_power(const System&) {
  const Answer answer = ask({"bench-energy", "--list"}, slow_start_s);
  if (!answer.found)
    return {{"", Health::error, "bench-energy is missing: steps with `energy` would fail",
             "install it beside bench"}};
  if (!answer.ok)
    return {{"", Health::error, "bench-energy: " + answer.failure,
             "bench-energy --list shows the sources one by one"}};
  std::vector<std::string> channels;
  std::vector<std::string> unreadable;
  std::vector<std::string> absent;
  for (const std::string& line : split(answer.output, "\n"))
    if (line.starts_with("absent: "))
      absent.push_back(line.substr(8, line.find(':', 8) - 8));
    else if (!line.starts_with("note: ") && line.find(':') != std::string::npos) {
      const std::vector<std::string> words = split_names(line, " ");
      (words.size() > 1 && words[1] == "unreadable" ? unreadable : channels).push_back(words[0]);
    }
  if (channels.empty())
    return {{"", Health::warning, "no power sensor: " + join(absent, ", ") + " are absent",
             "`bench-energy --list` says why; `--power-source model:cpu=65W` estimates"}};
  if (!unreadable.empty())
    return {{"", Health::warning,
             fmt::format("cannot read {}, so that no total is complete; can read {}",
                         join(unreadable, ", "), join(channels, ", ")),
             "`bench-energy --list` says why"}};
  return {{"", Health::ok, join(channels, ", "), ""}};
}

CheckResults check_steps(const System&) {
  constexpr std::array programs{"vision", "gpt", "llama", "cosmoflow", "deepcam"};
  for (const char* program : programs) {
    const Answer answer = ask({program, "--build-info"}, slow_start_s);
    if (!answer.found)
      continue;
    if (!answer.ok)
      return {{"", Health::error, fmt::format("{}: {}", program, answer.failure),
               "build the step programs for this machine and its LibTorch"}};
    std::map<std::string, std::string> facts;
    for (const std::string& line : split(answer.output, "\n"))
      if (const auto equals = line.find('='); equals != std::string::npos)
        facts.try_emplace(line.substr(0, equals), line.substr(equals + 1));
    if (!facts.contains("torch_version"))
      continue;  // another program of this name
    const std::string text = fmt::format("LibTorch {}, BLAS {}, {} GPUs", facts["torch_version"],
                                         facts["blas"], facts["gpus"]);
    if (facts["blas"] == "reference")
      return {{"", Health::error, text,
               "matrix products may be 16 times slower: install OpenBLAS in its OpenMP flavour "
               "(Debian: libopenblas0-openmp)"}};
    if (facts["blas"] == "openblas-serial" || facts["blas"] == "openblas-pthread")
      return {{"", Health::warning, text,
               "it does not share LibTorch's OpenMP threads: install OpenBLAS in its OpenMP "
               "flavour (Debian: "
               "libopenblas0-openmp)"}};
    return {{"", Health::ok, text, ""}};
  }
  return {{"", Health::ok, "no step programs found; benchmarks that train models need them", ""}};
}

}  // namespace

std::string word_of(Health health) {
  constexpr std::array words{"ok", "warning", "error"};
  return words[static_cast<std::size_t>(health)];
}

std::span<const Check> checks() {
  static const std::array all{
      Check{"kernel", check_kernel},
      Check{"libc", check_libc},
      Check{"clock", check_clock},
      Check{"file-system", check_file_system},
      Check{"space", check_space},
      Check{"locks", check_locks},
      Check{"database", check_database},
      Check{"small-files", check_small_files},
      Check{"python", check_python},
      Check{"perl", check_perl},
      Check{"shell", check_shell},
      Check{"bash", check_bash},
      Check{"platforms", check_platforms},
      Check{"scheduler", check_scheduler},
      Check{"partitions", check_partitions},
      Check{"accounting", check_accounting},
      Check{"accounts", check_accounts},
      Check{"limits", check_limits},
      Check{"gpus", check_gpus},
      Check{"power", check_power},
      Check{"steps", check_steps},
  };
  return all;
}

const Check& check_named(const std::string& name) {
  std::vector<std::string> known;
  for (const Check& check : checks()) {
    if (check.name == name)
      return check;
    known.push_back(check.name);
  }
  throw Error(Id::unknown_name, fmt::format("unknown check '{}'", name), suggestion(name, known));
}

}  // namespace bench::insight
