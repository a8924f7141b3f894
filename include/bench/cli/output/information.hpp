#pragma once

#include <string>

#include <bench/insight/run_view.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::cli {

/// Everything about one run that is not its table.
std::string run_information(const setup::Run& run, const workspace::Workspace& workspace);

/// A step and its workpackages.
/// @param parameters whether the parameters of each are shown
std::string step_information(const setup::Run& run, const inspect::RunView& view,
                             const std::string& step, bool parameters);

/// The workpackages of a step as lines of `id`, its parameters and JUBE's variables, separated; a
/// text that holds the separator, a quote or a newline is quoted as in RFC 4180.
std::string step_csv(const inspect::RunView& view, const std::string& step,
                     const std::string& separator);

std::string workpackage_information(const inspect::RunView& view, const setup::Run& run,
                                    const workspace::Workspace& workspace, long long id);

}  // namespace bench::cli
