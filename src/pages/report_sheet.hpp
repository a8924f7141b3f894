#pragma once

#include <string>
#include <utility>
#include <vector>

#include <bench/pages/report_page.hpp>
#include <bench/results/table.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::pages {

/// `scaling/000003`: outpath and id, without the directories above, which describe the author's
/// machine rather than the run.
std::string name_of(const space::Run& run);

/// What was run, where and when: titles and texts for people.
/// @param last_change its time; empty: unknown
std::vector<std::pair<std::string, std::string>> facts_of(const space::Run& run,
                                                          const std::string& last_change);

/// These facts, and the states of its workpackages.
RunSheet sheet_of(const space::Run& run, const workspace::Workspace& workspace);

/// Adds a row for each workpackage of the run of this name that failed or was skipped.
void add_failures(const std::string& run, const workspace::Workspace& workspace,
                  results::Table& failures);

}  // namespace bench::pages
