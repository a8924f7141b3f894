#include "provenance.hpp"

#include <cstdlib>

#include <fmt/core.h>
#include <unistd.h>

#include <bench/base/files.hpp>
#include <bench/base/hash.hpp>
#include <bench/base/text.hpp>
#include <bench/base/time.hpp>
#include <bench/base/uuid.hpp>
#include <bench/document/read.hpp>
#include <bench/energy/methods.hpp>
#include <bench/evaluate/substitute.hpp>
#include <bench/model/build.hpp>
#include <bench/setup/budget.hpp>
#include <bench/setup/parallel.hpp>
#include <bench/setup/platform_variables.hpp>
#include <bench/setup/run.hpp>

namespace bench::setup {
namespace {

namespace fs = std::filesystem;

/// `~` and environment variables expanded. A name that stays unknown would become that of a
/// directory.
std::string expand_outpath(const std::string& text, const Place& place) {
  std::string expanded = expand_user_and_environment(text);
  if (const auto unknown = evaluate::names_in(expanded); !unknown.empty())
    throw Error(
        fmt::format("outpath: environment variable '{}' is not set: {}", unknown.front(), text),
        "set it; `outpath` cannot use parameters", place);
  return expanded;
}

/// Option, then environment, both relative to here; then the file, relative to itself.
fs::path choose_outpath(const Request& request, const model::Benchmark& benchmark,
                        const fs::path& home) {
  const char* from_environment = std::getenv("JUBE_BENCHMARK_OUTPATH");
  std::string wanted = request.outpath;
  if (wanted.empty() && from_environment)
    wanted = from_environment;
  if (!wanted.empty())
    return fs::absolute(expand_outpath(wanted, {}));
  if (benchmark.outpath.empty())
    throw Error(fmt::format("benchmark '{}' has no outpath", benchmark.name),
                "add `outpath: ...`, or use `--outpath DIR`", benchmark.place);
  return home / expand_outpath(benchmark.outpath, benchmark.place);
}

const model::Benchmark& find_benchmark(const std::vector<model::Benchmark>& benchmarks,
                                       const std::string& name) {
  for (const model::Benchmark& benchmark : benchmarks)
    if (benchmark.name == name)
      return benchmark;
  throw Error(fmt::format("the workspace contains no benchmark '{}'", name));
}

/// The options, else what the platform says.
platform::SubmissionDefaults choose_asking(const platform::SubmissionDefaults& options,
                                           const platform::SubmissionDefaults& platform) {
  const auto choose = [](const std::string& option, const std::string& otherwise) {
    return option.empty() ? otherwise : option;
  };
  return {.partition = choose(options.partition, platform.partition),
          .account = choose(options.account, platform.account),
          .qos = choose(options.qos, platform.qos),
          .reservation = choose(options.reservation, platform.reservation)};
}

/// Makes a platform ask as the facts of a run say.
void apply_asking(const std::map<std::string, std::string>& facts, platform::Platform& platform) {
  const auto take = [&](const char* name, std::string& setting) {
    if (const auto found = facts.find(name); found != facts.end()) {
      if (found->second != setting)
        platform.unconfirmed.erase(name);
      setting = found->second;
    }
  };
  take("partition", platform.asking.partition);
  take("account", platform.asking.account);
  take("qos", platform.asking.qos);
  take("reservation", platform.asking.reservation);
  if (const auto launcher = facts.find("launcher"); launcher != facts.end()) {
    platform.launcher.command = launcher->second;
    platform.launcher.arguments.clear();
  }
}

}  // namespace

const std::string& Run::fact(const std::string& name) const {
  const auto found = facts.find(name);
  if (found == facts.end())
    throw Error(fmt::format("the workspace contains no '{}'", name));
  return found->second;
}

Run plan_run(const Input& input, const model::Benchmark& benchmark, const Request& request) {
  energy::check_methods(request.power_source, {});
  Run run{.directory = {}, .benchmark = benchmark, .platform = input.platform, .facts = {}};
  const fs::path outpath = choose_outpath(request, benchmark, input.home).lexically_normal();
  run.directory.id = request.id.value_or(workspace::next_run_id(outpath));
  run.directory.path = outpath / workspace::padded(run.directory.id);
  run.facts = collect_provenance(request.input_file);
  run.facts["benchmark"] = benchmark.name;
  run.facts["comment"] = request.comment.value_or(benchmark.comment);
  run.facts["input_file"] = fs::absolute(request.input_file).lexically_normal().string();
  run.facts["home"] = home_of(benchmark, input).string();
  run.facts["tags"] = join(std::vector<std::string>(input.tags.begin(), input.tags.end()), ",");
  run.facts["platform"] = input.platform.name;
  run.facts["platform_file"] = input.platform.file.string();
  run.facts["power_source"] = request.power_source;
  const platform::SubmissionDefaults asking = choose_asking(request.asking, input.platform.asking);
  run.facts["partition"] = asking.partition;
  run.facts["account"] = asking.account;
  run.facts["qos"] = asking.qos;
  run.facts["reservation"] = asking.reservation;
  if (request.launcher)
    run.facts["launcher"] = *request.launcher;
  apply_asking(run.facts, run.platform);
  run.facts.merge(platform_variables(run.platform));
  run.facts["max_workpackages"] = std::to_string(request.max_workpackages);
  run.facts["document"] = document::to_json(input.document);
  run.facts["started"] = local_time_now();
  run.facts["uuid"] = make_uuid();
  run.facts["bench_version"] = BENCH_VERSION;
  if (!request.budget.empty())
    set_budget(request.budget, run);
  if (request.parallel)
    set_parallel(*request.parallel, run);
  return run;
}

void ask_otherwise(const platform::SubmissionDefaults& asking, Run& run,
                   workspace::Workspace& workspace) {
  const auto change = [&](const char* fact, const std::string& value) {
    if (value.empty())
      return;
    run.facts[fact] = value;
    workspace.set_fact(fact, value);
  };
  change("partition", asking.partition);
  change("account", asking.account);
  change("qos", asking.qos);
  change("reservation", asking.reservation);
}

std::string platform_source(const Run& run) {
  const auto file = run.facts.find("platform_file");
  std::error_code absent;
  return file != run.facts.end() && fs::is_regular_file(file->second, absent)
             ? file->second
             : run.fact("platform");
}

bool input_has_changed(const Run& run) {
  const auto file = run.facts.find("input_file");
  const auto recorded = run.facts.find("input_sha256");
  if (file == run.facts.end() || recorded == run.facts.end())
    return false;
  std::error_code absent;
  return fs::is_regular_file(file->second, absent) && ::access(file->second.c_str(), R_OK) == 0 &&
         sha256_of_file(file->second) != recorded->second;
}

platform::Platform platform_of(const Run& run) {
  platform::Platform platform = platform::load_platform(platform_source(run));
  apply_asking(run.facts, platform);
  return platform;
}

Run load_run(const workspace::RunDirectory& directory, workspace::Workspace& workspace) {
  Run run;
  run.directory = {directory.id, fs::weakly_canonical(fs::absolute(directory.path))};
  run.facts = workspace.facts();
  Diagnostics seen_at_the_start;
  const auto document = document::from_json(run.fact("document"));
  run.benchmark = find_benchmark(model::build(document, seen_at_the_start), run.fact("benchmark"));
  std::map<std::string, std::size_t> commands;
  for (const model::Step& step : run.benchmark.steps)
    commands[step.name] = step.commands.size();
  workspace.expect_steps(std::move(commands));
  return run;
}

}  // namespace bench::setup
