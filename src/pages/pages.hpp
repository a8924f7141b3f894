#pragma once

#include "run_content.hpp"
#include "run_index.hpp"

#include <cstddef>
#include <filesystem>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include <bench/pages/page.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::pages {

/// State that all pages share.
struct PageContext {
  std::filesystem::path root;  ///< Canonical.
  RunIndex index;
  RunContents contents;
  RunReports reports;
};

/// Builds a page about all runs.
using PageMaker = PageResponse (*)(PageContext& context, const PageRequest& request);
/// Builds a page about one run, or throws Error.
using RunPageMaker = PageResponse (*)(PageContext& context, const RunSummary& run,
                                      const PageRequest& request);

PageResponse run_list_page(PageContext& context, const PageRequest& request);
PageResponse run_list_news(PageContext& context, const PageRequest& request);
PageResponse comparison_page(PageContext& context, const PageRequest& request);

PageResponse run_page(PageContext& context, const RunSummary& run, const PageRequest& request);
PageResponse run_news(PageContext& context, const RunSummary& run, const PageRequest& request);
PageResponse tables_page(PageContext& context, const RunSummary& run, const PageRequest& request);
PageResponse report_page(PageContext& context, const RunSummary& run, const PageRequest& request);
PageResponse workpackage_page(PageContext& context, const RunSummary& run,
                              const PageRequest& request);
PageResponse workpackage_news(PageContext& context, const RunSummary& run,
                              const PageRequest& request);
/// The JSON of the figures of a run, or of one of its workpackages.
PageResponse figures_page(PageContext& context, const RunSummary& run, const PageRequest& request);
PageResponse file_page(PageContext& context, const RunSummary& run, const PageRequest& request);
PageResponse file_download(PageContext& context, const RunSummary& run, const PageRequest& request);

/// The value of a parameter; empty if it was not given.
std::string parameter_of(const PageRequest& request, const std::string& name);
/// The value as a count; 0 if it is not a number.
std::size_t count_of(const PageRequest& request, const std::string& name);

/// The counts of a run or step as JSON, with `ended`, `all` and `text` for the page.
nlohmann::json json_of(const workspace::StepCounts& counts);

/// Serialises JSON whose strings may hold arbitrary bytes.
std::string text_of(const nlohmann::json& json);

PageResponse json_answer(const std::string& json);
/// An error page with one sentence.
PageResponse refusal(int status, const std::string& title, const std::string& text);

std::string link_to_runs();
std::string link_to_run(const RunSummary& run);
/// @param path below the run directory
std::string link_to_file(const RunSummary& run, const std::string& path);

/// What to do about a run that is not analysed.
std::string unanalysed_note(const RunSummary& run);

/// Progress of a run or step; the script keeps it up to date.
/// @param live where its counts are in the JSON: `steps.0`
std::string progress_bar(const workspace::StepCounts& counts, const std::string& live);

}  // namespace bench::pages
