#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <set>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/document/node.hpp>
#include <bench/document/read.hpp>
#include <bench/document/read_options.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/model/build.hpp>
#include <bench/platform/platform.hpp>
#include <bench/setup/input.hpp>

namespace bench::setup {
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
                "select one with --platform");
  return platform::load_platform(tagged.empty() ? "local" : *tagged.begin(), beside);
}

/// A tag that nothing in the file asks for is most likely a typing error.
void warn_of_idle_tags(const document::Document& document, const Request& request,
                       const platform::Platform& platform, const fs::path& beside,
                       Diagnostics& diagnostics) {
  const auto known = document::known_tags(document);
  std::vector<std::string> words = platform::platform_names(beside);
  words.insert(words.end(), known.begin(), known.end());
  for (const std::string& tag : request.tags)
    if (!known.contains(tag) && tag != platform.name &&
        std::ranges::find(platform.tags, tag) == platform.tags.end())
      diagnostics.warn(
          fmt::format("tag '{}' selects nothing in this file, and no platform has it", tag),
          did_you_mean(tag, words), {.file = request.input_file.string()});
}

/// A file whose benchmarks are all left out runs nothing, as in JUBE.
void warn_of_idle_file(bool by_tags, const std::set<std::string>& tags, const Request& request,
                       Diagnostics& diagnostics) {
  const std::vector<std::string> active(tags.begin(), tags.end());
  const std::string file = request.input_file.string();
  if (by_tags)
    diagnostics.warn("nothing to run: tags hide every benchmark of this file",
                     fmt::format("active tags: {}; `bench tag {}` lists the tags of the file",
                                 active.empty() ? "none" : join(active, ", "), shell_quote(file)),
                     {.file = file});
  else
    diagnostics.warn("nothing to run: every benchmark of this file is excluded",
                     "check `selection`, --only-bench and --not-bench", {.file = file});
}

}  // namespace

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
  warn_of_idle_tags(document, request, input.platform, input.home, diagnostics);
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

}  // namespace bench::setup
