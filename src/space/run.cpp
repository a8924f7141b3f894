#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <sys/stat.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/hash.hpp>
#include <bench/base/host.hpp>
#include <bench/base/text.hpp>
#include <bench/base/time.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/base/uuid.hpp>
#include <bench/document/read.hpp>
#include <bench/energy/sources/methods.hpp>
#include <bench/evaluate/substitute.hpp>
#include <bench/machine/batch_system.hpp>
#include <bench/machine/platform.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/model/build.hpp>
#include <bench/space/input.hpp>
#include <bench/space/metadata.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::space {
namespace {

namespace fs = std::filesystem;

/// Expands `~` and environment variables. An unknown name would become the name of a directory.
std::string expand_outpath(const std::string& text) {
  std::string expanded = expand_user_and_environment(text);
  if (const auto unknown = evaluate::names_in(expanded); !unknown.empty())
    throw Error(
        Id::unset_variable,
        fmt::format("outpath: environment variable '{}' is not set: {}", unknown.front(), text),
        "set it; `outpath` cannot use parameters");
  return expanded;
}

/// Option, then environment, both relative to here; then the file, relative to itself.
fs::path choose_outpath(const Request& request, const model::Benchmark& benchmark,
                        const Input& input) {
  const std::string wanted = asked_outpath(request);
  if (!wanted.empty())
    return fs::absolute(expand_outpath(wanted));
  if (benchmark.outpath.empty())
    throw Error(Id::missing_key, fmt::format("benchmark '{}' has no outpath", benchmark.name),
                "add `outpath: ...`, or use `--outpath DIR`", benchmark.place);
  return input.home / outpath_of(benchmark, input);
}

const model::Benchmark& find_benchmark(const std::vector<model::Benchmark>& benchmarks,
                                       const std::string& name) {
  for (const model::Benchmark& benchmark : benchmarks)
    if (benchmark.name == name)
      return benchmark;
  throw Error(Id::unknown_name, fmt::format("the workspace contains no benchmark '{}'", name));
}

/// The options, or the settings of the platform.
machine::SubmissionDefaults choose_asking(const machine::SubmissionDefaults& options,
                                          const machine::SubmissionDefaults& platform) {
  const auto choose = [](const std::string& option, const std::string& otherwise) {
    return option.empty() ? otherwise : option;
  };
  return {.partition = choose(options.partition, platform.partition),
          .account = choose(options.account, platform.account),
          .qos = choose(options.qos, platform.qos),
          .reservation = choose(options.reservation, platform.reservation)};
}

/// Gives a platform the submission settings that a run has recorded.
void apply_asking(const RunMetadata& metadata, machine::Platform& platform) {
  const auto take = [&](const char* name, const std::optional<std::string>& recorded,
                        std::string& setting) {
    if (!recorded)
      return;
    if (*recorded != setting)
      platform.unconfirmed.erase(name);
    setting = *recorded;
  };
  take("partition", metadata.partition, platform.asking.partition);
  take("account", metadata.account, platform.asking.account);
  take("qos", metadata.qos, platform.asking.qos);
  take("reservation", metadata.reservation, platform.asking.reservation);
  if (metadata.launcher) {
    platform.launcher.command = *metadata.launcher;
    platform.launcher.arguments.clear();
  }
}

bool is_confirmed(const machine::MaybeFact& fact) {
  return fact && !fact->unconfirmed;
}

std::string text_of(const machine::MaybeFact& fact, double share = 1) {
  return is_confirmed(fact) ? fmt::format("{}", fact->value * share) : "";
}

/// Of a module, for one of its devices.
std::string text_of_device(const machine::Machine& machine, const machine::MaybeFact& fact) {
  if (!is_confirmed(machine.modules_per_node) || !is_confirmed(machine.devices_per_node))
    return "";
  return text_of(fact, machine.modules_per_node->value / machine.devices_per_node->value);
}

void set_start(RunMetadata& metadata) {
  const auto now = std::chrono::system_clock::now();
  metadata.started = local_time(now);
  metadata.started_unix_s = std::chrono::duration<double>(now.time_since_epoch()).count();
}

/// A unit of budgets, and how many of it an hour of a node is.
struct Unit {
  const char* suffix;
  const char* name;
  const char* fact;  ///< Of the machine; null: node hours.
  machine::MaybeFact machine::Machine::*per_node;
};
constexpr Unit budget_units[] = {
    {"nh", "node hours", nullptr, nullptr},
    {"ch", "core hours", "cores_per_node", &machine::Machine::cores_per_node},
    {"gh", "GPU hours", "devices_per_node", &machine::Machine::devices_per_node},
};

}  // namespace

Run plan_run(const Input& input, const model::Benchmark& benchmark, const Request& request) {
  energy::check_methods(request.power_source, {});
  Run run{.directory = {}, .benchmark = benchmark, .platform = input.platform, .metadata = {}};
  const fs::path outpath = choose_outpath(request, benchmark, input).lexically_normal();
  run.directory.id = request.id.value_or(workspace::next_run_id(outpath));
  run.directory.path = outpath / workspace::padded(run.directory.id);
  RunMetadata& metadata = run.metadata;
  metadata = metadata_from(collect_provenance(request.input_file));
  metadata.benchmark = benchmark.name;
  metadata.comment = request.comment.value_or(benchmark.comment);
  metadata.input_file = fs::absolute(request.input_file).lexically_normal().string();
  metadata.home = home_of(benchmark, input).string();
  metadata.tags = join(std::vector<std::string>(input.tags.begin(), input.tags.end()), ",");
  metadata.platform = input.platform.name;
  metadata.platform_file = input.platform.file.string();
  metadata.power_source = request.power_source;
  const machine::SubmissionDefaults asking = choose_asking(request.asking, input.platform.asking);
  metadata.partition = asking.partition;
  metadata.account = asking.account;
  metadata.qos = asking.qos;
  metadata.reservation = asking.reservation;
  metadata.launcher = request.launcher;
  apply_asking(metadata, run.platform);
  metadata.platform_variables = platform_variables(run.platform);
  metadata.max_workpackages = static_cast<long long>(request.max_workpackages);
  metadata.document = document::to_json(input.document);
  set_start(metadata);
  metadata.uuid = make_uuid();
  metadata.bench_version = BENCH_VERSION;
  metadata.order_seed = request.order_seed;
  draw_order_seed(run);
  if (!request.budget.empty())
    set_budget(request.budget, run);
  if (request.parallel)
    set_parallel(*request.parallel, run);
  return run;
}

Run plan_repetition(const Run& run) {
  Run next = run;
  const fs::path outpath = run.directory.path.parent_path();
  next.directory.id = workspace::next_run_id(outpath);
  next.directory.path = outpath / workspace::padded(next.directory.id);
  next.platform = platform_of(run);
  RunMetadata& metadata = next.metadata;
  metadata.provenance = metadata_from(collect_provenance(metadata.input_file)).provenance;
  set_start(metadata);
  metadata.uuid = make_uuid();
  metadata.bench_version = BENCH_VERSION;
  metadata.accepted.clear();
  metadata.order_seed.reset();
  draw_order_seed(next);
  return next;
}

void draw_order_seed(Run& run) {
  const bool random = std::ranges::any_of(run.benchmark.steps, [](const model::Step& step) {
    return step.order == model::Order::random;
  });
  if (random && !run.metadata.order_seed)
    run.metadata.order_seed = static_cast<long long>(std::random_device()());
}

void ask_otherwise(const machine::SubmissionDefaults& asking, Run& run,
                   workspace::Workspace& workspace) {
  const auto change = [&](const char* fact, std::optional<std::string>& recorded,
                          const std::string& value) {
    if (value.empty())
      return;
    recorded = value;
    workspace.set_fact(fact, value);
  };
  change("partition", run.metadata.partition, asking.partition);
  change("account", run.metadata.account, asking.account);
  change("qos", run.metadata.qos, asking.qos);
  change("reservation", run.metadata.reservation, asking.reservation);
}

std::set<std::string> chained_steps(const Run& run) {
  const std::vector<std::string> names = split_names(run.metadata.chained.value_or(""));
  return {names.begin(), names.end()};
}

void store_fact(const std::string& name, const Run& run, workspace::Workspace& workspace) {
  workspace.set_fact(name, facts_of(run.metadata).at(name));
}

std::string platform_source(const Run& run) {
  std::error_code absent;
  const std::string& file = run.metadata.platform_file;
  return fs::is_regular_file(file, absent) ? file : run.metadata.platform;
}

InputState input_state(const Run& run) {
  const fs::path file = run.metadata.input_file;
  // The name may come from a run of somebody else, and lead to a file that is not an input.
  constexpr ::off_t most_bytes = 64 << 20;
  const UniqueFd fd = open_regular_file(file);
  struct stat info {};
  if (!run.metadata.input_sha256 || !fd.valid() || ::fstat(fd.get(), &info) != 0 ||
      info.st_size == 0 || info.st_size > most_bytes)
    return InputState::unknown;
  return sha256(read_all(fd, file)) == *run.metadata.input_sha256 ? InputState::unchanged
                                                                  : InputState::changed;
}

machine::Platform platform_of(const Run& run) {
  machine::Platform platform = machine::load_platform(platform_source(run));
  apply_asking(run.metadata, platform);
  return platform;
}

Variables platform_variables(const machine::Platform& platform) {
  const machine::Machine& machine = platform.machine;
  const machine::Accelerator& accelerator = machine.accelerator;
  return {
      {"jube_platform_name", platform.name},
      {"jube_platform_container", platform.container},
      {"jube_platform_nodes", text_of(machine.nodes)},
      {"jube_platform_devices_per_node", text_of(machine.devices_per_node)},
      {"jube_platform_cores_per_node", text_of(machine.cores_per_node)},
      {"jube_platform_threads_per_core", text_of(machine.threads_per_core)},
      {"jube_platform_memory_gb", text_of(machine.memory_gb)},
      {"jube_platform_device_memory_gb", text_of_device(machine, accelerator.memory_gb)},
      {"jube_platform_device_fp16_tflops", text_of_device(machine, accelerator.peak_fp16_tflops)},
      {"jube_platform_device_bf16_tflops", text_of_device(machine, accelerator.peak_bf16_tflops)},
      {"jube_platform_device_fp32_tflops", text_of_device(machine, accelerator.peak_fp32_tflops)},
  };
}

std::optional<double> start_unix_s(const RunMetadata& metadata,
                                   const workspace::Workspace& workspace) {
  if (metadata.started_unix_s)
    return metadata.started_unix_s;
  if (const auto claimed_unix_s = workspace.first_claim_unix_s())
    return claimed_unix_s;
  return parse_local_time(metadata.started);
}

Run load_run(const workspace::RunDirectory& directory, workspace::Workspace& workspace) {
  Run run;
  run.directory = {directory.id, fs::weakly_canonical(fs::absolute(directory.path))};
  run.metadata = metadata_from(workspace.facts());
  run.metadata.started_unix_s = start_unix_s(run.metadata, workspace);
  Diagnostics seen_at_the_start;
  const auto document = document::from_json(run.metadata.document);
  run.benchmark = find_benchmark(model::build(document, seen_at_the_start), run.metadata.benchmark);
  std::map<std::string, std::size_t> commands;
  for (const model::Step& step : run.benchmark.steps)
    commands[step.name] = step.commands.size();
  workspace.expect_steps(std::move(commands));
  return run;
}

double parse_budget_h(const std::string& text, const machine::Platform& platform) {
  for (const Unit& unit : budget_units) {
    if (!text.ends_with(unit.suffix))
      continue;
    const auto number = parse_number(strip(std::string_view(text).substr(0, text.size() - 2)));
    if (!number || !(*number > 0) || *number > 1e12)
      break;
    if (!unit.per_node)
      return *number;
    const machine::MaybeFact& fact = platform.machine.*unit.per_node;
    if (!fact || fact->unconfirmed || !(fact->value > 0))
      throw Error(Id::missing_key,
                  fmt::format("platform {} has no confirmed `{}`: cannot count {}", platform.name,
                              unit.fact, unit.name),
                  "give the budget in node hours: 50nh");
    return *number / fact->value;
  }
  throw Error(Id::invalid_value, fmt::format("invalid budget '{}'", text),
              "use node hours, core hours or GPU hours: 50nh, 3200ch, 200gh");
}

void set_budget(const std::string& text, Run& run) {
  if (!run.platform.capabilities().queues_jobs)
    throw Error(Id::unsupported,
                fmt::format("platform {} has no batch system, so there are no jobs to count",
                            run.platform.name),
                "remove --budget, or select a machine with --platform");
  run.metadata.budget_node_hours = parse_budget_h(text, run.platform);
}

void set_parallel(int number, Run& run) {
  if (number < 0)
    throw Error(Id::invalid_value,
                fmt::format("invalid number of workpackages at a time: '{}'", number),
                "use a number from 1 up, or 0 for one per core");
  run.metadata.parallel = number;
}

std::optional<int> parallel_of(const Run& run) {
  if (!run.metadata.parallel)
    return std::nullopt;
  constexpr long long most = 1'000'000;
  const long long number = *run.metadata.parallel;
  return number == 0 ? usable_cpus() : static_cast<int>(std::clamp(number, 1LL, most));
}

void ask_partitions(machine::BatchSystem& system, Run& run) {
  if (!run.partitions)
    run.partitions = system.ask_partitions();
}

const machine::Partition* partition_of(const Run& run, const std::string& wanted) {
  if (!run.partitions)
    return nullptr;
  // The name may be a list, separated by commas: then the job goes to the one that can start it
  // first.
  const auto found = std::ranges::find_if(run.partitions->all, [&](const auto& one) {
    return wanted.empty() ? one.is_default : one.name == wanted;
  });
  return found == run.partitions->all.end() ? nullptr : &*found;
}

UniqueFd open_output(const Run& run, const fs::path& file) {
  const fs::path& directory = run.directory.path;
  if (is_written_below(directory, file))
    return open_below(directory, file);
  UniqueFd fd = open_below(file.parent_path(), file);
  struct stat of_run {};
  struct stat of_file {};
  const bool of_owner = fd.valid() && ::stat(directory.c_str(), &of_run) == 0 &&
                        ::fstat(fd.get(), &of_file) == 0 && of_run.st_uid == of_file.st_uid;
  return of_owner ? std::move(fd) : UniqueFd();
}

}  // namespace bench::space
