#pragma once

#include <string>
#include <vector>

#include <bench/base/diagnostics.hpp>
#include <bench/engine/run.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::cli {

/// Text on standard output, for results.
void print(const std::string& text);
/// A line on standard error, for everything that is not the result.
void tell(const std::string& line);
void tell_warnings(const Diagnostics& diagnostics);

/// The box that a run begins with.
std::string heading(const engine::Run& run);
/// The table of steps and states.
std::string status_table(const std::vector<workspace::StepCounts>& counts);
/// Where the run is and what to do next.
std::string closing(const engine::Run& run, bool finished);
/// Rows under headings, as `pretty` tables are drawn.
std::string text_table(const std::vector<std::string>& headings,
                       const std::vector<std::vector<std::string>>& rows);
/// `n=1 word=fp16`: the parameters of a workpackage in one line.
std::string parameters_text(const workspace::Parameters& parameters);
/// `/home/me/runs` as `runs` where that is shorter from here.
std::string short_path(const std::filesystem::path& path);

}  // namespace bench::cli
