#include <algorithm>
#include <atomic>
#include <chrono>
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
#include <unistd.h>

#include <bench/base/below.hpp>
#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/process.hpp>
#include <bench/base/text.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/insight/doctor.hpp>
#include <bench/insight/trial.hpp>
#include <bench/machine/batch_system.hpp>
#include <bench/machine/machine.hpp>
#include <bench/machine/platform.hpp>

namespace bench::insight {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using machine::Platform;

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
