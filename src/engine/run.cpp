#include "graph.hpp"
#include "platform_variables.hpp"
#include "provenance.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <set>

#include <fmt/core.h>
#include <unistd.h>

#include <bench/base/files.hpp>
#include <bench/base/hash.hpp>
#include <bench/base/text.hpp>
#include <bench/base/time.hpp>
#include <bench/base/uuid.hpp>
#include <bench/document/read.hpp>
#include <bench/energy/methods.hpp>
#include <bench/engine/budget.hpp>
#include <bench/engine/parallel.hpp>
#include <bench/engine/run.hpp>
#include <bench/model/build.hpp>

namespace bench::engine {
namespace {

namespace fs = std::filesystem;

/// The platform that was asked for: by name, or by a tag that a platform has.
platform::Platform choose_platform(const Request& request, const fs::path& beside) {
  if (platform::is_platform_file(request.platform))
    return platform::load_platform(request.platform);
  if (!request.platform.empty()) {
    const std::string named = platform::platform_of_tag(request.platform, beside);
    return platform::load_platform(named.empty() ? request.platform : named, beside);
  }
  std::set<std::string> tagged;
  for (const std::string& tag : request.tags)
    if (const std::string name = platform::platform_of_tag(tag, beside); !name.empty())
      tagged.insert(name);
  if (tagged.size() > 1)
    throw Error(fmt::format("the tags select several platforms: {}",
                            join(std::vector<std::string>(tagged.begin(), tagged.end()), ", ")),
                "choose one with --platform");
  return platform::load_platform(tagged.empty() ? "local" : *tagged.begin(), beside);
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

/// A file whose benchmarks are all left out runs nothing, as in JUBE.
void warn_of_idle_file(bool by_tags, const std::set<std::string>& tags, const Request& request,
                       Diagnostics& diagnostics) {
  const std::vector<std::string> active(tags.begin(), tags.end());
  const std::string file = request.input_file.string();
  if (by_tags)
    diagnostics.warn("nothing to run: tags hide every benchmark of this file",
                     fmt::format("active tags: {}; `bench tag {}` shows those that it knows",
                                 active.empty() ? "none" : join(active, ", "), shell_quote(file)),
                     {.file = file});
  else
    diagnostics.warn("nothing to run: every benchmark of this file is left out",
                     "see `selection`, --only-bench and --not-bench", {.file = file});
}

/// `~` and environment variables expanded. A name that stays unknown would become that of a
/// directory.
std::string expand_outpath(const std::string& text, const Place& place) {
  std::string expanded = expand_user_and_environment(text);
  if (const auto unknown = evaluate::names_in(expanded); !unknown.empty())
    throw Error(
        fmt::format("outpath: there is no environment variable '{}': {}", unknown.front(), text),
        "set it; parameters are not known there", place);
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
                "add `outpath: ...`, or say `--outpath DIR`", benchmark.place);
  return home / expand_outpath(benchmark.outpath, benchmark.place);
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

Input read_input_document(const Request& request, Diagnostics& diagnostics) {
  Input input;
  input.home = fs::weakly_canonical(fs::absolute(request.input_file).parent_path());
  input.platform = choose_platform(request, input.home);
  document::ReadOptions options{.tags = request.tags,
                                .include_path = request.include_path,
                                .library = platform::data_directory() / "platforms" / "jube"};
  options.tags.insert(input.platform.name);
  document::Document document = document::read_document(request.input_file, options, diagnostics);
  warn_of_idle_tags(document, request, input.platform, diagnostics);
  const auto platforms = platform::platform_names(input.home);
  std::set<std::string> known_tags(platforms.begin(), platforms.end());
  known_tags.insert(input.platform.tags.begin(), input.platform.tags.end());
  document::check_tags(document, known_tags);
  const std::size_t benchmarks = document.hidden_benchmarks + document.root.all("benchmark").size();
  input.whole_file =
      !document::choose_benchmarks(document.root, request.only_benchmarks, request.not_benchmarks);
  input.tags = document.active_tags;
  if (!request.tags.contains(input.platform.name))
    input.tags.erase(input.platform.name);
  if (benchmarks > 0 && !document.root.first("benchmark"))
    warn_of_idle_file(document.hidden_benchmarks == benchmarks, input.tags, request, diagnostics);
  input.document = std::move(document.root);
  input.nothing_chosen = benchmarks > 0 && !input.document.first("benchmark");
  return input;
}

Input read_input(const Request& request, Diagnostics& diagnostics) {
  Input input = read_input_document(request, diagnostics);
  if (!input.nothing_chosen)
    input.benchmarks = model::build(input.document, diagnostics, input.whole_file);
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
  run.facts["platform_file"] = input.platform.file.string();
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
  if (request.parallel)
    set_parallel(*request.parallel, run);
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

void ask_otherwise(const platform::Asking& asking, Run& run, workspace::Workspace& workspace) {
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

}  // namespace bench::engine
