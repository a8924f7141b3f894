#include "evaluation.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <sys/resource.h>
#include <unistd.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/base/outage.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/insight/difference.hpp>
#include <bench/results/analyses.hpp>
#include <bench/results/filters.hpp>
#include <bench/results/report.hpp>
#include <bench/results/update.hpp>
#include <bench/space/input.hpp>
#include <bench/space/metadata.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workspace.hpp>
#include <bench/workspace/writer_lock.hpp>

namespace bench::cli {
namespace {

using workspace::RunDirectory;
using workspace::Workspace;
using workspace::WriterLock;
using Access = Workspace::Access;

/// The caller holds the writer lock.
void analyse_and_store(const RunDirectory& directory, const Update& update) {
  Workspace workspace = Workspace::open(directory.path, Access::write);
  const space::Run run = update.applied_to(space::load_run(directory, workspace));
  if (update.file.empty())
    advise_update(run);
  Diagnostics diagnostics = telling_diagnostics();
  workspace.at_once([&] {
    if (!update.file.empty())
      workspace.set_fact("document", run.metadata.document);
    results::analyse_and_store(run, workspace, diagnostics);
  });
}

const char* why_not_locked(const std::filesystem::path& run_directory) {
  if (workspace::is_made_by_jube(run_directory))
    return "JUBE made this run";
  return workspace::worker_of(run_directory) ? "another bench process is working on this run"
                                             : "this run cannot be locked";
}

/// Analyses a run and saves the analysis if possible.
/// @returns why it was not saved; empty if it was
std::string try_to_store(const RunDirectory& directory, const Update& update,
                         Evaluated& evaluated) {
  if (::access(directory.path.c_str(), W_OK) != 0)
    return fmt::format("cannot write in {}: {}", short_path(directory.path), std::strerror(errno));
  try {
    const auto lock = WriterLock::take_if_free(directory.path);
    if (!lock)
      return why_not_locked(directory.path);
    analyse_and_store(directory, update);
  } catch (const Error& error) {
    if (!is_fault_of_machine(error))
      throw;
    evaluated.writable = false;
    return error.message();
  }
  return "";
}

bool is_analysed(const Evaluated& evaluated, Found found) {
  return found == Found::in_rows ? results::is_analysed(evaluated.run, evaluated.workspace)
                                 : results::is_each_analysed(evaluated.run, evaluated.workspace);
}

Evaluated read_and_analyse(const RunDirectory& directory, const Update& update, bool analyse_again,
                           Found found) {
  Workspace workspace = Workspace::open(directory.path, Access::read);
  space::Run run = space::load_run(directory, workspace);
  if (update.file.empty())
    advise_update(run);
  Evaluated evaluated{.run = std::move(run),
                      .workspace = std::move(workspace),
                      .analyses = {},
                      .own = workspace::is_own(directory.path),
                      .writable = ::access(directory.path.c_str(), W_OK) == 0};
  const bool needed = analyse_again || !update.file.empty() || !is_analysed(evaluated, found);
  if (needed && evaluated.own) {
    if (const std::string why = try_to_store(directory, update, evaluated); why.empty()) {
      evaluated.run = space::load_run(directory, evaluated.workspace);
    } else {
      tell(fmt::format("note: {}, so this analysis is shown but not saved", why));
      evaluated.run = update.applied_to(evaluated.run);
      Diagnostics diagnostics = telling_diagnostics();
      evaluated.analyses = results::analyse_run(evaluated.run, evaluated.workspace, diagnostics);
      return evaluated;
    }
  } else if (needed) {
    tell("note: this run belongs to another user: showing the owner's last analysis");
    evaluated.run = update.applied_to(evaluated.run);
  }
  evaluated.analyses = found == Found::in_rows
                           ? results::stored_analyses(evaluated.run, evaluated.workspace)
                           : results::stored_analyses_of_each(evaluated.run, evaluated.workspace);
  return evaluated;
}

}  // namespace

space::Request Update::request() const {
  space::Request request;
  request.input_file = file;
  request.tags = {tags.begin(), tags.end()};
  request.include_path.assign(include_path.begin(), include_path.end());
  return request;
}

space::Run Update::applied_to(const space::Run& run) const {
  if (file.empty())
    return run;
  Diagnostics diagnostics = telling_diagnostics();
  return results::with_updated_evaluation(run, request(), diagnostics);
}

void analyse_directory(const RunDirectory& directory, const Update& update) {
  if (workspace::is_made_by_jube(directory.path)) {
    evaluate(directory, update, true);
    return;
  }
  const WriterLock lock(directory.path);
  analyse_and_store(directory, update);
}

Evaluated evaluate(const RunDirectory& directory, const Update& update, bool analyse_again,
                   Found found) {
  Evaluated evaluated = read_and_analyse(directory, update, analyse_again, found);
  if (found == Found::in_workpackages)
    end_advice();  // no table of the input file follows that could have a fault
  return evaluated;
}

results::Report report_of(const Evaluated& one, const space::Run& run,
                          const std::set<std::string>& only, Failures* failures) {
  Diagnostics diagnostics = telling_diagnostics();
  results::Report report =
      results::report(run, one.workspace, one.analyses, only, diagnostics,
                      one.own ? results::Trust::own : results::Trust::foreign, failures);
  if (!failures)
    end_advice();  // what is wrong from here on is not in the input file
  return report;
}

void allow_many_open_runs() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0)
    return;
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
}

std::string description_of(const Evaluated& one, const std::string& further) {
  return fmt::format("{}{} ({}, started {})", short_path(one.run.directory.path), further,
                     one.run.benchmark.name, space::start_for_people(one.run.metadata));
}

std::string why_unsound(const std::function<void()>& read) {
  try {
    read();
    return "";
  } catch (const Error& error) {
    return error.message();
  }
}

void skip_if_unsound(const workspace::RunDirectory& directory, const std::function<void()>& read) {
  if (const std::string why = why_unsound(read); !why.empty())
    tell(fmt::format("note: {} is left out: {}", short_path(directory.path), why));
}

const Evaluated& EvaluatedRuns::read(const RunDirectory& directory) {
  for (const Evaluated& known : read_)
    if (known.run.directory.path == std::filesystem::absolute(directory.path))
      return known;
  return read_.emplace_back(evaluate(directory, {}, false, Found::in_workpackages));
}

const Evaluated* EvaluatedRuns::read_if_sound(const RunDirectory& directory) {
  const Evaluated* one = nullptr;
  skip_if_unsound(directory, [&] { one = &read(directory); });
  return one;
}

std::vector<insight::Side> EvaluatedRuns::sides(const std::vector<RunDirectory>& directories) {
  std::vector<insight::Side> sides;
  for (const RunDirectory& directory : directories) {
    const Evaluated& one = read(directory);
    sides.push_back({one.run, one.workspace, one.analyses});
  }
  return sides;
}

}  // namespace bench::cli
