#include "ask.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/host.hpp>
#include <bench/base/process.hpp>
#include <bench/base/text.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/insight/doctor.hpp>
#include <bench/insight/new_platform.hpp>
#include <bench/machine/batch_system.hpp>
#include <bench/machine/platform.hpp>
#include <bench/machine/systems.hpp>

namespace bench::insight {
namespace {

namespace fs = std::filesystem;
using machine::Platform;

/// Identical nodes: one line of sinfo.
struct NodeKind {
  long long count = 0;
  long long sockets = 0;
  long long cores_per_socket = 0;
  long long threads = 0;
  long long memory_mib = 0;
  std::string gres;
};

std::vector<NodeKind> read_node_kinds(const std::string& sinfo) {
  std::vector<NodeKind> kinds;
  for (const std::string& line : split(sinfo, "\n")) {
    const auto fields = split_values(line, "|");
    if (fields.size() < 6)
      continue;
    // A trailing `+` marks the minimum of several numbers.
    const auto number = [&](std::size_t k) {
      return parse_integer(fields[k].substr(0, fields[k].find('+'))).value_or(0);
    };
    kinds.push_back({number(0), number(1), number(2), number(3), number(4), fields[5]});
  }
  std::ranges::stable_sort(kinds, [](const auto& a, const auto& b) { return a.count > b.count; });
  return kinds;
}

/// The type and the number of `gpu:a100:4(S:0-1)`; the type may lack, and a number of 1.
std::optional<std::pair<std::string, std::string>> gpus_of(const std::string& gres) {
  for (const std::string& entry : split_names(gres)) {
    auto words = split(entry.substr(0, entry.find('(')), ":");
    if (words.front() != "gpu")
      continue;
    if (words.size() == 1 || !parse_integer(words.back()))
      words.emplace_back("1");
    return std::pair{words.size() > 2 ? words[1] : "", words.back()};
  }
  return std::nullopt;
}

Fact number_fact(long long value, const std::string& source, bool guessed = false) {
  return value > 0 ? Fact{std::to_string(value), source, guessed} : Fact{};
}

std::string kind_text(const NodeKind& kind) {
  return fmt::format("{} with {} cores, {} MiB{}", kind.count, kind.sockets * kind.cores_per_socket,
                     kind.memory_mib,
                     kind.gres.empty() || kind.gres == "(null)" ? "" : ", " + kind.gres);
}

void take_gpus(const NodeKind& kind, Survey& found) {
  const auto gpus = gpus_of(kind.gres);
  if (!gpus)
    return;
  found.devices_per_node = {gpus->second, "sinfo (GRES)"};
  found.gpu_request = {"gres", "sinfo lists gpu as GRES; some sites want gpus-per-node", true};
  if (!gpus->first.empty()) {
    found.gpu_type = {gpus->first, "sinfo (GRES)"};
    found.accelerator = {gpus->first, "the type of the GRES", true};
  }
}

void take_nodes(const std::string& partition, Survey& found) {
  const Answer answer = ask({"sinfo", "-h", "-p", partition, "-o", "%D|%X|%Y|%Z|%m|%G"});
  const std::vector<NodeKind> kinds = read_node_kinds(answer.ok ? answer.output : "");
  if (kinds.empty()) {
    found.notes.push_back("sinfo failed to list the nodes of the partition: " + answer.failure);
    return;
  }
  const NodeKind& most = kinds.front();
  const std::string source = "sinfo";
  found.sockets = number_fact(most.sockets, source);
  found.cores_per_node = number_fact(most.sockets * most.cores_per_socket, source);
  found.threads_per_core = number_fact(most.threads, source);
  if (most.memory_mib > 0)
    found.memory_gb = {
        fmt::format("{:.0f}", std::floor(static_cast<double>(most.memory_mib) * 1.048576 / 1000)),
        "sinfo (RealMemory)"};
  take_gpus(most, found);
  if (kinds.size() > 1) {
    std::vector<std::string> texts;
    for (const NodeKind& kind : kinds)
      texts.push_back(kind_text(kind));
    found.notes.push_back("The nodes of the partition differ; this file describes the first: " +
                          join(texts, "; ") + ".");
  }
}

void take_slurm(const std::string& wanted, Survey& found) {
  const auto system = machine::find_system("slurm")->make({});
  const machine::Partitions partitions = system->ask_partitions();
  if (!partitions.known)
    throw Error(Id::batch_system_failed, "Slurm does not answer: " + partitions.failure,
                "try again, or describe this node alone with --node-only");
  const machine::Partition* chosen = nullptr;
  std::vector<std::string> others;
  std::vector<std::string> names;
  for (const machine::Partition& partition : partitions.all) {
    names.push_back(partition.name);
    if (wanted.empty() ? partition.is_default : partition.name == wanted)
      chosen = &partition;
  }
  if (!chosen)
    throw Error(Id::unknown_name,
                wanted.empty() ? std::string("the cluster has no default partition")
                               : fmt::format("no partition '{}'", wanted),
                wanted.empty() ? "name one with --partition: " + join(names, ", ")
                               : suggestion(wanted, names));
  std::erase(names, chosen->name);
  found.has_slurm = true;
  found.partition = {chosen->name, "scontrol show partition"};
  found.nodes = number_fact(chosen->nodes, "scontrol show partition");
  if (!names.empty())
    found.notes.push_back("Other partitions: " + join(names, ", ") + ".");
  for (const machine::Association& one : system->ask_associations())
    found.accounts.push_back(one.account);
  for (const std::string& line : split(ask({"scontrol", "show", "config"}).output, "\n"))
    if (const auto words = split_values(line, "="); words.front() == "ClusterName")
      found.cluster = words.back();
  take_nodes(chosen->name, found);
}

/// Adds facts about this node, whose processor may differ from that of the compute nodes.
void take_processor(Survey& found) {
  std::map<std::string, std::string> lines;
  for (const std::string& line : split(ask({"lscpu"}).output, "\n"))
    if (const auto colon = line.find(':'); colon != std::string::npos)
      lines.try_emplace(std::string(strip(line.substr(0, colon))), strip(line.substr(colon + 1)));
  const bool elsewhere = found.has_slurm;
  const std::string source = fmt::format("lscpu on {}", found.host);
  found.processor = {lines["Model name"], source, elsewhere};
  found.numa_domains = {lines["NUMA node(s)"], source, elsewhere};
  if (elsewhere)
    return;
  const auto number = [&](const char* key) { return parse_integer(lines[key]).value_or(0); };
  found.nodes = {"1", "this node"};
  found.sockets = number_fact(number("Socket(s)"), source);
  found.cores_per_node = number_fact(number("Socket(s)") * number("Core(s) per socket"), source);
  found.threads_per_core = number_fact(number("Thread(s) per core"), source);
  struct sysinfo memory {};
  ::sysinfo(&memory);
  found.memory_gb = number_fact(
      static_cast<long long>(static_cast<double>(memory.totalram) * memory.mem_unit / 1e9),
      "the kernel");
}

/// @param count of GPUs that this node has
void take_accelerator(const std::string& name, std::size_t count, const std::string& program,
                      Survey& found) {
  const bool elsewhere = found.has_slurm;
  const std::string source = fmt::format("{} on {}", program, found.host);
  if (!elsewhere)
    found.devices_per_node = number_fact(static_cast<long long>(count), source);
  if (elsewhere && !found.devices_per_node.is_known())
    found.notes.push_back(
        fmt::format("{} shows {} GPUs that the batch system does not list.", source, count));
  found.accelerator = {name, source, elsewhere};
}

void take_nvidia(Survey& found) {
  const Answer answer = ask(
      {"nvidia-smi", "--query-gpu=name,memory.total,power.limit", "--format=csv,noheader,nounits"});
  if (!answer.ok || answer.output.empty())
    return;
  const auto lines = split(answer.output, "\n");
  const auto fields = split_values(lines.front(), ",");
  take_accelerator(fields.front(), lines.size(), "nvidia-smi", found);
  found.is_nvidia = true;
  const std::string source = found.accelerator.source;
  const auto number = [&](std::size_t k) {
    return fields.size() > k ? parse_number(fields[k]) : std::nullopt;
  };
  if (const auto mib = number(1))
    found.accelerator_memory_gb = {fmt::format("{:.1f}", *mib * 1.048576 / 1000), source,
                                   found.accelerator.guessed};
  if (const auto watts = number(2))
    found.power_limit_w = {fmt::format("{:g}", *watts), source, found.accelerator.guessed};
}

void take_amd(Survey& found) {
  const Answer answer = ask({"rocm-smi", "--showproductname", "--csv"});
  std::vector<std::string> names;
  for (const std::string& line : split(answer.ok ? answer.output : "", "\n"))
    if (const auto fields = split_values(line, ","); line.starts_with("card") && fields.size() > 1)
      names.push_back(fields[1]);
  if (!names.empty())
    take_accelerator(names.front(), names.size(), "rocm-smi", found);
}

std::string quoted(const std::string& text) {
  return '"' + replace_all(replace_all(one_line(text), "\\", "\\\\"), "\"", "\\\"") + '"';
}

/// Leaves numbers unquoted, so that YAML reads them as numbers.
std::string scalar(const std::string& text) {
  return parse_number(text) ? text : quoted(text);
}

/// A key with its value and source; empty if the value is unknown.
std::string line(const std::string& key, const Fact& fact) {
  if (!fact.is_known())
    return "";
  return fmt::format("{}: {{{}: {}, source: {}}}{}\n", key, fact.guessed ? "unconfirmed" : "value",
                     scalar(fact.value), quoted(fact.source), fact.guessed ? "  # guess" : "");
}

std::string group(const std::string& name, const std::vector<std::pair<std::string, Fact>>& facts) {
  std::string lines;
  for (const auto& [key, fact] : facts)
    if (const std::string one = line(key, fact); !one.empty())
      lines += "  " + one;
  return lines.empty() ? "" : name + ":\n" + lines;
}

std::string job_lines(const Survey& found) {
  if (!found.has_slurm)
    return "scheduler: none\ntemplate: local.job\n";
  std::string text = "scheduler: slurm\ntemplate: slurm.job\n";
  text += line("partition", found.partition);
  text += "account: $BENCH_ACCOUNT";
  if (!found.accounts.empty())
    text += "  # yours: " + one_line(join(found.accounts, ", "));
  text += "\n" + line("gpu_request", found.gpu_request) + line("gpu_type", found.gpu_type);
  return text +
         "launcher: {command: srun}  # guess: the site may want mpirun, or an --mpi option\n";
}

/// The peaks of a data sheet are a module's. A GPU of NVIDIA is one; an MI250 of AMD is two
/// devices.
Fact modules_of(const Survey& found) {
  if (found.is_nvidia && !found.accelerator.guessed)
    return found.devices_per_node;
  return {found.devices_per_node.value, "one device per module; an MI250 is two devices", true};
}

using Clock = std::chrono::steady_clock;

double value_or(const machine::MaybeFact& fact, double otherwise) {
  return fact && !fact->unconfirmed ? fact->value : otherwise;
}

/// The platform file decides if the batch system does not report GPUs.
bool asks_for_gpu(const Platform& machine, const machine::Partition& partition) {
  return machine.gpu_request != machine::GpuRequest::none &&
         partition.most_gpus_per_node.value_or(
             static_cast<int>(value_or(machine.machine.devices_per_node, 0))) > 0;
}

/// The job prints its findings, one per line; the launcher's first, since it may print more.
std::string input_file(bool with_gpu) {
  return fmt::format(R"yaml(name: trial
outpath: runs
step:
  name: probe
  batch: {{time_limit: 1min{}}}
  do:
    - $jube_starter sh -c 'echo launcher=works'
    - echo "host=$(hostname)"
    - echo "cores=$(LC_ALL=C lscpu -p=core,socket 2> /dev/null | grep -v '^#' | sort -u | wc -l)"
)yaml",
                     with_gpu ? ", gpus_per_node: 1" : "");
}

std::map<std::string, std::string> read_facts(const fs::path& file) {
  std::map<std::string, std::string> facts;
  const UniqueFd fd = open_regular_file(file);
  for (const std::string& line : split(fd.valid() ? end_of_file(fd, 50).text : "", "\n"))
    if (const auto equals = line.find('='); equals != std::string::npos)
      facts.try_emplace(line.substr(0, equals), strip(line.substr(equals + 1)));
  return facts;
}

/// A job in one partition, run by another bench process.
class Trial {
 public:
  Trial(const machine::Partition& partition, const Platform& machine, const fs::path& home,
        const TrialSettings& settings)
      : partition_(partition.name), directory_(home / partition_) {
    make_directories(directory_);
    const fs::path input = directory_ / "trial.yaml";
    write_file_atomically(input, input_file(asks_for_gpu(machine, partition)));
    log_ = UniqueFd(::open((directory_ / "log").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
    std::vector<std::string> arguments = settings.bench;
    arguments.insert(arguments.end(),
                     {"run", input.string(), "--platform", settings.platform, "--partition",
                      partition_, "--outpath", (directory_ / "runs").string(), "--wait",
                      "--cancel-on-interrupt", "--hide-animation"});
    process_ = std::make_unique<Process>(
        ProcessSpec{.arguments = arguments, .stdout_fd = log_.get(), .stderr_fd = log_.get()});
  }

  bool has_ended() { return process_->poll().has_value(); }
  /// Cancels its job.
  void interrupt() { process_->signal_group(SIGINT); }
  /// Marks its job as not ended in time.
  void mark_late(std::string why, std::string remedy) {
    late_ = {partition_, Health::error, std::move(why), std::move(remedy)};
  }

  CheckResult finding(const Platform& machine) {
    if (late_)
      return *late_;
    const auto facts = read_facts(directory_ / "runs/000000/000000_probe/work/stdout");
    if (!process_->wait().success())
      return failure();
    if (!facts.contains("launcher"))
      return {partition_, Health::error,
              fmt::format("the launcher '{}' started nothing", machine.launcher.command),
              "correct `launcher` in the platform file"};
    const auto cores = facts.contains("cores") ? parse_number(facts.at("cores")) : std::nullopt;
    const double expected = value_or(machine.machine.cores_per_node, 0);
    const std::string seen =
        fmt::format("a job ran on {}, which has {} cores", facts.at("host"), facts.at("cores"));
    if (expected > 0 && cores && *cores != expected)
      return {partition_, Health::warning,
              fmt::format("{}; the platform file says {:g}", seen, expected),
              "correct `cores_per_node`, unless some cores are reserved for the system"};
    return {partition_, Health::ok, seen, ""};
  }

 private:
  /// The error message of bench, the batch system or the job.
  CheckResult failure() const {
    std::string text = "the job failed";
    std::string hint = "correct the platform file; `bench run -n` shows the job script";
    const UniqueFd fd = open_regular_file(directory_ / "log");
    for (const std::string& line : split(end_of_file(fd, 50).text, "\n"))
      if (line.starts_with("error: "))
        text = line.substr(7);
      else if (line.starts_with("hint: "))
        hint = line.substr(6);
    const UniqueFd error = open_regular_file(directory_ / "runs/000000/000000_probe/work/stderr");
    if (const std::string said = error.valid() ? one_line(end_of_file(error, 3).text) : "";
        !said.empty())
      text += ": " + said;
    return {partition_, Health::error, text, hint};
  }

  std::string partition_;
  fs::path directory_;
  UniqueFd log_;
  std::unique_ptr<Process> process_;
  std::optional<CheckResult> late_;
};

/// A temporary directory visible to the jobs.
DirectoryRemoval make_home(const fs::path& directory) {
  const fs::path path =
      fs::absolute(directory) / fmt::format(".bench-platforms-check-{}", ::getpid());
  make_directories(path);
  return DirectoryRemoval(path);
}

/// @returns whether all have ended
bool wait_for(std::vector<Trial>& trials, double seconds, const std::atomic<bool>* interrupted) {
  const auto deadline = Clock::now() + std::chrono::duration<double>(seconds);
  while (Clock::now() < deadline && !(interrupted && *interrupted)) {
    if (std::ranges::all_of(trials, [](Trial& trial) { return trial.has_ended(); }))
      return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return false;
}

}  // namespace

Survey survey(const std::string& partition, bool node_only) {
  Survey found;
  found.host = host_name();
  if (!node_only && !find_program("sbatch").empty())
    take_slurm(partition, found);
  else if (!partition.empty())
    throw Error(Id::missing_program, "no Slurm on this node: sbatch is not on PATH",
                "omit --partition to describe only this node");
  take_processor(found);
  take_nvidia(found);
  take_amd(found);
  return found;
}

std::string platform_file(const std::string& name, const Survey& found) {
  const bool alone = !found.has_slurm;
  std::string text = fmt::format(
      "# Written by `bench platforms new` on {}. Lines marked \"guess\" are uncertain:\n"
      "# check them, then change `unconfirmed` to `value`, or remove them.\n",
      found.host);
  text += fmt::format("name: {}\n", quoted(name));
  text += fmt::format(
      "description: {}\n",
      quoted(alone ? "node " + found.host
                   : fmt::format("partition {}{}", found.partition.value,
                                 found.cluster.empty() ? "" : " of cluster " + found.cluster)));
  text += "status: live\n" + job_lines(found);
  text += group("machine", {{"nodes", found.nodes},
                            {"modules_per_node", modules_of(found)},
                            {"devices_per_node", found.devices_per_node},
                            {"processor", found.processor},
                            {"sockets", found.sockets},
                            {"cores_per_node", found.cores_per_node},
                            {"threads_per_core", found.threads_per_core},
                            {"numa_domains", found.numa_domains},
                            {"memory_gb", found.memory_gb}});
  if (found.devices_per_node.is_known())
    text +=
        "# Peaks are in the vendor's data sheet: peak_fp16_tflops, memory_bandwidth_tb_per_s.\n";
  text += group("accelerator", {{"name", found.accelerator},
                                {"memory_gb", found.accelerator_memory_gb},
                                {"power_limit_w", found.power_limit_w}});
  if (!found.notes.empty())
    text += "notes:\n";
  for (const std::string& note : found.notes)
    text += "  - " + quoted(note) + "\n";
  return text;
}

std::vector<machine::Partition> partitions_of(const Platform& machine,
                                              const std::vector<std::string>& names) {
  if (!machine.capabilities().queues_jobs)
    throw Error(
        Id::unsupported,
        fmt::format("platform {} has no batch system, so there are no jobs to test", machine.name),
        "`bench doctor` checks this machine");
  const machine::Partitions known = machine::batch_system_of(machine)->ask_partitions();
  if (!known.failure.empty())
    throw Error(Id::batch_system_failed, "the batch system does not answer: " + known.failure,
                "`bench doctor scheduler`");
  std::vector<machine::Partition> chosen;
  for (const machine::Partition& partition : known.all)
    if (names.empty() && partition.takes_jobs)
      chosen.push_back(partition);
  std::vector<std::string> wanted = names;
  if (wanted.empty() && chosen.empty() && !machine.asking.partition.empty())
    wanted.push_back(machine.asking.partition);
  for (const std::string& name : wanted) {
    const auto found = std::ranges::find(known.all, name, &machine::Partition::name);
    chosen.push_back(found == known.all.end() ? machine::Partition{.name = name} : *found);
  }
  if (chosen.empty())
    throw Error(Id::batch_system_failed, "the batch system lists no partitions",
                "name some with --partition");
  return chosen;
}

std::vector<CheckResult> try_partitions(const Platform& machine,
                                        const std::vector<machine::Partition>& partitions,
                                        const TrialSettings& settings) {
  const DirectoryRemoval home = make_home(settings.directory);
  std::vector<Trial> trials;
  for (const machine::Partition& partition : partitions)
    trials.emplace_back(partition, machine, home.path(), settings);
  if (!wait_for(trials, settings.timeout_s, &settings.interrupted)) {
    for (Trial& trial : trials)
      if (!trial.has_ended()) {
        if (settings.interrupted)
          trial.mark_late("interrupted; the job was cancelled", "");
        else
          trial.mark_late(fmt::format("the job did not end within {:g} s and was cancelled",
                                      settings.timeout_s),
                          "the partition may be full: try again with a longer --timeout");
        trial.interrupt();
      }
    constexpr double cancelling_s = 90;  // a batch system may take a minute to answer
    if (!wait_for(trials, cancelling_s, nullptr))
      for (Trial& trial : trials)
        if (!trial.has_ended())
          trial.mark_late(
              "the job did not end in time, and its cancellation could not be confirmed",
              "look for a job `trial_probe_0` in the queue");
  }
  std::vector<CheckResult> findings;
  for (Trial& trial : trials)
    findings.push_back(trial.finding(machine));
  return findings;
}

}  // namespace bench::insight
