#include "graph.hpp"
#include "platform_variables.hpp"
#include "provenance.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <set>

#include <fmt/core.h>

#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/base/time.hpp>
#include <bench/base/uuid.hpp>
#include <bench/document/read.hpp>
#include <bench/energy/methods.hpp>
#include <bench/engine/budget.hpp>
#include <bench/engine/run.hpp>
#include <bench/model/build.hpp>

namespace bench::engine {
namespace {

namespace fs = std::filesystem;

/// The platform that was asked for: by name, or by a tag that a platform has.
platform::Platform choose_platform(const Request& request) {
  if (!request.platform.empty()) {
    const std::string named = platform::platform_of_tag(request.platform);
    return platform::load_platform(named.empty() ? request.platform : named);
  }
  std::set<std::string> tagged;
  for (const std::string& tag : request.tags)
    if (const std::string name = platform::platform_of_tag(tag); !name.empty())
      tagged.insert(name);
  if (tagged.size() > 1)
    throw Error(fmt::format("the tags select several platforms: {}",
                            join(std::vector<std::string>(tagged.begin(), tagged.end()), ", ")),
                "choose one with --platform");
  return platform::load_platform(tagged.empty() ? "local" : *tagged.begin());
}

/// A tag that nothing in the file asks for is most likely a typing error.
void warn_of_idle_tags(const document::Document& document, const Request& request,
                       const platform::Platform& platform, Diagnostics& diagnostics) {
  const auto known = document::known_tags(document);
  for (const std::string& tag : request.tags)
    if (!known.contains(tag) && tag != platform.name &&
        std::ranges::find(platform.tags, tag) == platform.tags.end())
      diagnostics.warn(fmt::format("tag '{}' selects nothing in this file", tag),
                       did_you_mean(tag, std::vector<std::string>(known.begin(), known.end())),
                       {.file = request.input_file.string()});
}

/// Option, then environment, both relative to here; then the file, relative to itself.
fs::path choose_outpath(const Request& request, const model::Benchmark& benchmark,
                        const fs::path& home) {
  const char* from_environment = std::getenv("JUBE_BENCHMARK_OUTPATH");
  std::string wanted = request.outpath;
  if (wanted.empty() && from_environment)
    wanted = from_environment;
  if (!wanted.empty())
    return fs::absolute(expand_user_and_environment(wanted));
  if (benchmark.outpath.empty())
    throw Error(fmt::format("benchmark '{}' has no outpath", benchmark.name),
                "add `outpath: ...`, or say `--outpath DIR`", benchmark.place);
  return home / expand_user_and_environment(benchmark.outpath);
}

/// What relative file names of the benchmark start from; its outpath starts from the input file.
fs::path home_of(const model::Benchmark& benchmark, const Input& input) {
  for (const document::Node* node : input.document.all("benchmark")) {
    const document::Attribute* reference = node->find("file_path_ref");
    if (!reference || strip(node->get("name")) != benchmark.name)
      continue;
    const auto home =
        fs::weakly_canonical(input.home / expand_user_and_environment(reference->value));
    return home.has_filename() ? home : home.parent_path();
  }
  return input.home;
}

const model::Benchmark& find_benchmark(const std::vector<model::Benchmark>& benchmarks,
                                       const std::string& name) {
  for (const model::Benchmark& benchmark : benchmarks)
    if (benchmark.name == name)
      return benchmark;
  throw Error(fmt::format("the workspace holds no benchmark '{}'", name));
}

/// Takes a directory back that nothing has been put into.
class EmptyDirectoryGuard {
 public:
  explicit EmptyDirectoryGuard(fs::path directory) : directory_(std::move(directory)) {}
  EmptyDirectoryGuard(const EmptyDirectoryGuard&) = delete;
  EmptyDirectoryGuard& operator=(const EmptyDirectoryGuard&) = delete;
  ~EmptyDirectoryGuard() {
    std::error_code not_empty;
    fs::remove(directory_, not_empty);
  }

 private:
  fs::path directory_;
};

/// The options, else what the platform says.
platform::Asking choose_asking(const platform::Asking& options, const platform::Asking& platform) {
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
    throw Error(fmt::format("the workspace knows no '{}'", name));
  return found->second;
}

Input read_input(const Request& request, Diagnostics& diagnostics) {
  Input input;
  input.home = fs::weakly_canonical(fs::absolute(request.input_file).parent_path());
  input.platform = choose_platform(request);
  document::ReadOptions options{.tags = request.tags,
                                .include_path = request.include_path,
                                .library = platform::data_directory() / "platforms" / "jube"};
  options.tags.insert(input.platform.name);
  document::Document document = document::read_document(request.input_file, options, diagnostics);
  warn_of_idle_tags(document, request, input.platform, diagnostics);
  const auto platforms = platform::platform_names();
  std::set<std::string> known_tags(platforms.begin(), platforms.end());
  known_tags.insert(input.platform.tags.begin(), input.platform.tags.end());
  document::check_tags(document, known_tags);
  const bool has_benchmarks = document.root.first("benchmark") != nullptr;
  const bool whole_file =
      !document::choose_benchmarks(document.root, request.only_benchmarks, request.not_benchmarks);
  input.tags = document.active_tags;
  if (!request.tags.contains(input.platform.name))
    input.tags.erase(input.platform.name);
  input.document = std::move(document.root);
  if (!has_benchmarks || input.document.first("benchmark"))
    input.benchmarks = model::build(input.document, diagnostics, whole_file);
  return input;
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
  run.facts["power_source"] = request.power_source;
  const platform::Asking asking = choose_asking(request.asking, input.platform.asking);
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
  return run;
}

NewRun make_run(Run& run, const Request& request, std::vector<std::string>& notices) {
  run.directory = workspace::make_run_directory(run.directory.path.parent_path(), request.id);
  EmptyDirectoryGuard guard(run.directory.path);
  run.facts["id"] = std::to_string(run.directory.id);
  evaluate::Evaluator evaluator = evaluator_of(run);
  Graph graph(run, {}, evaluator);
  const workspace::Changes first{.created = graph.make_first()};
  std::ranges::move(graph.take_notices(), std::back_inserter(notices));
  // Nobody else may write from the moment on at which the run can be found.
  workspace::WriterLock lock(run.directory.path);
  auto workspace = workspace::Workspace::create(run.directory.path, run.facts, first);
  return {.lock = std::move(lock), .workspace = std::move(workspace)};
}

platform::Platform platform_of(const Run& run) {
  platform::Platform platform = platform::load_platform(run.fact("platform"));
  apply_asking(run.facts, platform);
  return platform;
}

Run load_run(const workspace::RunDirectory& directory, const workspace::Workspace& workspace) {
  Run run;
  run.directory = {directory.id, fs::weakly_canonical(fs::absolute(directory.path))};
  run.facts = workspace.facts();
  Diagnostics seen_at_the_start;
  const auto document = document::from_json(run.fact("document"));
  run.benchmark = find_benchmark(model::build(document, seen_at_the_start), run.fact("benchmark"));
  if (!workspace::is_own(directory.path)) {
    std::map<std::string, std::size_t> commands;
    for (const model::Step& step : run.benchmark.steps)
      commands[step.name] = step.commands.size();
    workspace.check_rows(commands);
  }
  return run;
}

}  // namespace bench::engine
