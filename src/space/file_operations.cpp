#include "file_operations.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/below.hpp>
#include <bench/machine/file_operation.hpp>
#include <bench/machine/job.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/space/graph.hpp>
#include <bench/space/render.hpp>
#include <bench/space/render_context.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::job {
namespace {

namespace fs = std::filesystem;
using execute::FileOperation;

/// Where an entry's relative paths begin.
fs::path base_of(const model::FileEntry& entry, const RenderContext& context) {
  if (entry.internal)
    return context.default_work();
  const fs::path home = context.run.metadata.home;
  return entry.base.empty() ? home : (home / entry.base).lexically_normal();
}

FileOperation place_files(const model::FileEntry& entry, const RenderContext& context) {
  execute::PlaceFiles operation{.action = entry.action == model::FileEntry::Action::copy
                                              ? execute::PlaceFiles::Action::copy
                                              : execute::PlaceFiles::Action::link,
                                .run = context.run.directory.path,
                                .base = base_of(entry, context),
                                .source_dir = context.substitute(entry.source_dir),
                                .paths = {},
                                .names = {},
                                .target_dir = context.substitute(entry.target_dir),
                                .work = context.work(),
                                .place = entry.place};
  for (const std::string& path : entry.paths)
    operation.paths.push_back(context.substitute(path));
  for (const std::string& name : entry.names)
    operation.names.push_back(context.substitute(name));
  return operation;
}

FileOperation substitute_file(const model::SubstituteSet& set, const model::SubstitutedFile& file,
                              const RenderContext& context) {
  execute::SubstituteFile operation{.run = context.run.directory.path,
                                    .in = context.work() / context.file_name(file.in),
                                    .out = context.work() / context.file_name(file.out),
                                    .append = file.append,
                                    .replacements = {},
                                    .place = file.place};
  for (const model::Substitution& substitution : set.substitutions)
    operation.replacements.push_back({.source = context.substitute(substitution.source),
                                      .dest = context.substitute(substitution.dest),
                                      .regex = substitution.regex,
                                      .place = substitution.place});
  return operation;
}

/// What earlier attempts may have printed in a `work_dir` that no other workpackage has. In one
/// that several share, it is theirs, too.
std::vector<fs::path> earlier_outputs(const RenderContext& context, const workflow::Graph& graph) {
  const workspace::Workpackage& own = context.workpackage;
  if (context.step.work_dir.empty() || own.attempts < 2)
    return {};
  const fs::path work = context.work();
  const auto works_there = [&](const workspace::Workpackage& other) {
    return other.id != own.id && !context.run.benchmark.step(other.step)->work_dir.empty() &&
           graph.variables_of(other).at("jube_wp_abspath") == work.string();
  };
  if (std::ranges::any_of(graph.all(), works_there))
    return {};
  std::set<fs::path> files{work / "stdout", work / "stderr"};
  for (const model::Command& command : context.step.commands)
    if (!command.shared)
      for (const std::string& name : {command.stdout_file, command.stderr_file})
        files.insert(work / context.file_name(name));
  std::erase_if(files, [&](const fs::path& file) { return !is_written_below(work, file); });
  return {files.begin(), files.end()};
}

}  // namespace

FileOperation make_directory(const RenderContext& context, const workflow::Graph& graph) {
  const workspace::Workpackage& workpackage = context.workpackage;
  const fs::path directory = context.directory();
  const fs::path work = context.default_work();
  execute::MakeDirectory operation{.run = context.run.directory.path,
                                   .directory = directory,
                                   .set_aside_as = {},
                                   .shared = context.shared(),
                                   .work = context.work(),
                                   .outputs = earlier_outputs(context, graph),
                                   .links = {}};
  if (workpackage.retries > 0)
    operation.set_aside_as =
        operation.run / "retried" /
        fmt::format("{}.{}", directory.filename().string(), workpackage.retries);
  // Relative, so that they survive a move of the run.
  for (const long long id : workpackage.parents) {
    const workspace::Workpackage& parent = graph.at(id);
    operation.links.emplace_back(fs::path("../..") / parent.directory / "work", work / parent.step);
  }
  if (!operation.shared.empty())
    operation.links.emplace_back(fs::path("../..") / operation.shared.filename(),
                                 work / context.substitute(context.step.shared));
  return operation;
}

std::vector<execute::Snippet> render_files(const RenderContext& context,
                                           std::vector<FileOperation>& operations) {
  std::vector<execute::Snippet> snippets;
  const model::Benchmark& benchmark = context.run.benchmark;
  const auto names = context.used_sets();
  for (const std::string& name : names) {
    const model::FileSet* set = benchmark.file_set(name);
    if (!set)
      continue;
    for (const model::FileEntry& entry : set->entries) {
      const bool prepares = entry.action == model::FileEntry::Action::prepare;
      if (!prepares && context.holds(entry.active, entry.place)) {
        operations.push_back(place_files(entry, context));
      } else if (prepares && !entry.command.text.empty() &&
                 context.holds(entry.command.active, entry.command.place)) {
        snippets.push_back(render_command(entry.command, context,
                                          fmt::format("`prepare` of file set '{}'", set->name)));
        snippets.back().before = std::exchange(operations, {});
      }
    }
  }
  for (const std::string& name : names)
    if (const model::SubstituteSet* set = benchmark.substitute_set(name))
      for (const model::SubstitutedFile& file : set->files)
        operations.push_back(substitute_file(*set, file, context));
  return snippets;
}

}  // namespace bench::job
