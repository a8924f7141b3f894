#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/document/node.hpp>
#include <bench/document/read.hpp>
#include <bench/evaluate/substitute.hpp>
#include <bench/machine/platform.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/model/build.hpp>
#include <bench/space/input.hpp>

namespace bench::space {
namespace {

namespace fs = std::filesystem;

/// Those that tags select; none where one was named.
std::set<std::string> platforms_of_tags(const Request& request, const fs::path& beside) {
  std::set<std::string> names;
  if (!request.platform.empty())
    return names;
  for (const std::string& tag : request.tags)
    if (const std::string name = machine::platform_of_tag(tag, beside); !name.empty())
      names.insert(name);
  return names;
}

/// The platform that was asked for: by name, or by a tag that it has.
machine::Platform choose_platform(const Request& request, const std::set<std::string>& tagged,
                                  const fs::path& beside) {
  if (machine::is_platform_file(request.platform))
    return machine::load_platform(request.platform);
  if (!request.platform.empty()) {
    const std::string named = machine::platform_of_tag(request.platform, beside);
    return machine::load_platform(named.empty() ? request.platform : named, beside);
  }
  return machine::load_platform(tagged.size() == 1 ? *tagged.begin() : "local", beside);
}

/// Whether a step of the file has a `batch`, whatever the tags: JUBE's scripts have none.
bool has_batch_step(const document::Node& node) {
  return (node.name == "step" && node.first("batch")) ||
         std::ranges::any_of(node.children, has_batch_step);
}

/// Whether the file's own `selection` names the tag.
bool selects(const document::Node& root, const std::string& tag) {
  for (const document::Node* selection : root.all("selection"))
    for (const document::Node* selected : selection->all("tag"))
      if (const auto names = split_names(selected->text);
          std::ranges::find(names, tag) != names.end())
        return true;
  return false;
}

/// Where nobody chose one. A script of JUBE's submits by itself, and to JUBE tags with the names of
/// platforms are like any other.
void check_default_platform(const document::Document& document, const std::set<std::string>& tagged,
                            const document::ReadOptions& options, const Request& request,
                            Diagnostics& diagnostics) {
  const bool asks_for_local = document::known_tags(document).contains("local") &&
                              !request.tags.contains("local") && !selects(document.root, "local");
  if (tagged.empty() && !asks_for_local)
    return;
  Diagnostics told_already;
  const bool has_batch =
      has_batch_step(document::read_file(request.input_file, told_already, options));
  const Place place{.file = request.input_file.string()};
  if (!tagged.empty()) {
    const std::string several =
        fmt::format("the tags select several platforms: {}",
                    join(std::vector<std::string>(tagged.begin(), tagged.end()), ", "));
    const std::string hint = "select one with --platform";
    if (has_batch)
      throw Error(Id::conflict, several, hint);
    diagnostics.warn(Id::conflict, several + "; 'local' is used", hint, place);
  }
  if (asks_for_local && !has_batch)
    diagnostics.warn(Id::surprising_value,
                     "tag 'local' is active, since no platform is chosen; in JUBE it is not",
                     "choose it with `--platform local`, or another one, such as "
                     "`--platform slurm`, with which the tag is not active",
                     place);
}

/// A tag that nothing in the file asks for is most likely a typing error.
/// @param words the names of platforms, which a tag may have been meant to be
void warn_of_idle_tags(const document::Document& document, const Request& request,
                       const machine::Platform& platform, std::vector<std::string> words,
                       const fs::path& beside, Diagnostics& diagnostics) {
  const auto known = document::known_tags(document);
  words.insert(words.end(), known.begin(), known.end());
  for (const std::string& tag : request.tags)
    if (!known.contains(tag) && tag != platform.name &&
        std::ranges::find(platform.tags, tag) == platform.tags.end())
      diagnostics.unknown_name(
          fmt::format(
              "tag '{}' selects nothing in this file{}", tag,
              machine::platform_of_tag(tag, beside).empty() ? ", and no platform has it" : ""),
          did_you_mean(tag, words), "", {.file = request.input_file.string()});
}

/// A file whose benchmarks are all left out runs nothing, as in JUBE.
void warn_of_idle_file(bool by_tags, const std::set<std::string>& tags, const Request& request,
                       Diagnostics& diagnostics) {
  const std::vector<std::string> active(tags.begin(), tags.end());
  const std::string file = request.input_file.string();
  if (by_tags)
    diagnostics.warn(Id::nothing_to_run, "nothing to run: tags hide every benchmark of this file",
                     fmt::format("active tags: {}; `bench tag {}` lists the tags of the file",
                                 active.empty() ? "none" : join(active, ", "), shell_quote(file)),
                     {.file = file});
  else
    diagnostics.warn(Id::nothing_to_run, "nothing to run: every benchmark of this file is excluded",
                     "check `selection`, --only-bench and --not-bench", {.file = file});
}

/// A name that is unknown stays in the path, as in JUBE.
void check_outpath(const model::Benchmark& benchmark, const Input& input,
                   Diagnostics& diagnostics) {
  if (const auto unknown = evaluate::names_in(outpath_of(benchmark, input)); !unknown.empty())
    diagnostics.mistake(Id::unset_variable,
                        fmt::format("outpath: environment variable '{}' is not set: {}",
                                    unknown.front(), benchmark.outpath),
                        "set it; `outpath` cannot use parameters", benchmark.place);
}

}  // namespace

std::string asked_outpath(const Request& request) {
  const char* from_environment = std::getenv("JUBE_BENCHMARK_OUTPATH");
  return request.outpath.empty() && from_environment ? from_environment : request.outpath;
}

std::string outpath_of(const model::Benchmark& benchmark, const Input& input) {
  const std::string home = home_of(benchmark, input).string();
  return expand_user_and_environment(
      evaluate::substitute(benchmark.outpath, [&](std::string_view name) -> const std::string* {
        if (name == "jube_benchmark_home")
          return &home;
        return name == "jube_benchmark_name" ? &benchmark.name : nullptr;
      }));
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
  const std::set<std::string> tagged = platforms_of_tags(request, input.home);
  input.platform = choose_platform(request, tagged, input.home);
  document::ReadOptions options{.tags = request.tags,
                                .include_path = request.include_path,
                                .library = machine::share_directory() / "platforms" / "jube"};
  options.tags.insert(input.platform.name);
  options.tags.insert(request.tags_of_run.begin(), request.tags_of_run.end());
  document::Document document = document::read_document(request.input_file, options, diagnostics);
  if (request.platform.empty() && tagged.size() != 1)
    check_default_platform(document, tagged, options, request, diagnostics);
  const auto platforms = machine::platform_names(input.home);
  warn_of_idle_tags(document, request, input.platform, platforms, input.home, diagnostics);
  std::set<std::string> known_tags(platforms.begin(), platforms.end());
  known_tags.insert(input.platform.tags.begin(), input.platform.tags.end());
  document::check_tags(document, known_tags);
  const std::size_t benchmarks = document.hidden_benchmarks + document.root.all("benchmark").size();
  input.whole_file =
      !document::choose_benchmarks(document.root, request.only_benchmarks, request.not_benchmarks);
  input.tags = document.active_tags;
  if (!request.tags.contains(input.platform.name) && !selects(document.root, input.platform.name))
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
  if (asked_outpath(request).empty())
    for (const model::Benchmark& benchmark : input.benchmarks)
      check_outpath(benchmark, input, diagnostics);
  return input;
}

}  // namespace bench::space
