#include "command.hpp"
#include "runs.hpp"

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/core.h>

#include <bench/base/diagnostics.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/document/node.hpp>
#include <bench/document/read.hpp>
#include <bench/document/tags.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::cli {
namespace {

using document::Node;

/// The tags of a file: those that it describes and those that its expressions name.
std::map<std::string, std::string> described_tags(const Node& root) {
  std::map<std::string, std::string> descriptions;
  for (const std::string& name : document::tag_names(root))
    descriptions[name];
  for (const document::TagDescription& described : document::tag_descriptions(root))
    descriptions[described.name] = described.text;
  return descriptions;
}

void show_descriptions(const std::map<std::string, std::string>& descriptions) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, description] : descriptions)
    rows.push_back({name, description});
  if (!rows.empty())
    print(text_table({"tag", "description"}, rows));
}

void show_tags_of_run(const workspace::RunDirectory& run) {
  using workspace::Workspace;
  const Workspace workspace = Workspace::open(run.path, Workspace::Access::read);
  const std::string active = workspace.fact("tags");
  print(fmt::format("run {}: {}\n", run.id, active.empty() ? "no tags" : "tags " + active));
  show_descriptions(described_tags(document::from_json(workspace.fact("document"))));
}

}  // namespace

std::function<int()> declare_tag(CLI::App& app) {
  struct Options {
    RunChoice choice;
    std::vector<std::string> include_path;
  };
  const auto options = std::make_shared<Options>();
  app.add_option("PATH", options->choice.directory,
                 "input file, outpath, or the directory of one run")
      ->capture_default_str();
  options->choice.declare_ids(app);
  app.add_option("--include-path", options->include_path,
                 "directories to search for included files")
      ->type_name("DIR");
  return [options] {
    const RunChoice& chosen = options->choice;
    std::error_code absent;
    if (!std::filesystem::is_directory(chosen.directory, absent)) {
      Diagnostics told_by_check;
      const document::ReadOptions reading{
          .tags = {},
          .include_path = {options->include_path.begin(), options->include_path.end()},
          .library = {}};
      show_descriptions(
          described_tags(document::read_file(chosen.directory, told_by_check, reading)));
    } else {
      return for_each_run(chosen.runs(), show_tags_of_run);
    }
    return 0;
  };
}

}  // namespace bench::cli
