#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include <bench/engine/run.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::cli {

/// Options that `run` and `continue` share.
struct WorkOptions {
  bool stop_at_error = false;
  bool analyse = false;
  bool result = false;
  bool hide_animation = false;
  bool verbose = false;
};

/// Declares the options that `run` and `continue` share.
void declare(CLI::App& app, WorkOptions& options);

/// Takes a run as far as it goes, shows and logs it, and returns the exit code. The caller holds
/// the lock.
/// @param log_name `run` or `continue`
int work_on(const engine::Run& run, workspace::Workspace& workspace, const WorkOptions& options,
            const std::string& log_name);

/// Analyses a run, keeps what was found and shows the warnings. The caller holds the lock.
void analyse(const engine::Run& run, workspace::Workspace& workspace);

/// Prints the tables of a run and writes their files.
/// @param style empty: each table's own
void show_result(const engine::Run& run, workspace::Workspace& workspace, const std::string& style);

}  // namespace bench::cli
