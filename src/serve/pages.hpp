#pragma once

#include "reports.hpp"
#include "run_content.hpp"
#include "run_index.hpp"

#include <filesystem>
#include <string>

#include <bench/serve/site.hpp>

namespace bench::serve {

/// What all pages are made from.
struct Shelf {
  std::filesystem::path root;  ///< Canonical.
  RunIndex index;
  RunContents contents;
  Reports reports;
};

/// Makes the answer to a question about all runs.
using PageMaker = Answer (*)(Shelf& shelf, const Question& question);
/// Makes the answer to a question about one run, or throws Error.
using RunPageMaker = Answer (*)(Shelf& shelf, const RunSummary& run, const Question& question);

Answer run_list_page(Shelf& shelf, const Question& question);
Answer run_list_news(Shelf& shelf, const Question& question);
Answer comparison_page(Shelf& shelf, const Question& question);

Answer run_page(Shelf& shelf, const RunSummary& run, const Question& question);
Answer run_news(Shelf& shelf, const RunSummary& run, const Question& question);
Answer tables_page(Shelf& shelf, const RunSummary& run, const Question& question);
Answer report_page(Shelf& shelf, const RunSummary& run, const Question& question);
Answer workpackage_page(Shelf& shelf, const RunSummary& run, const Question& question);
Answer workpackage_news(Shelf& shelf, const RunSummary& run, const Question& question);
Answer file_page(Shelf& shelf, const RunSummary& run, const Question& question);
Answer file_download(Shelf& shelf, const RunSummary& run, const Question& question);

/// The value of a parameter; empty if it was not given.
std::string parameter_of(const Question& question, const std::string& name);
/// The same as a number that counts something; 0 where it is none.
std::size_t count_of(const Question& question, const std::string& name);

Answer json_answer(const std::string& json);
/// A page with nothing but a sentence.
Answer refusal(int status, const std::string& title, const std::string& text);

std::string link_to_runs();
std::string link_to_run(const RunSummary& run);

/// The workpackages of a step by state, in words: `9 done, 1 failed, 2 running`.
std::string counts_text(const workspace::StepCounts& counts);
/// How far a run or step is; the script keeps it up to date.
/// @param live where its counts are in the JSON: `steps.0`
std::string progress_bar(const workspace::StepCounts& counts, const std::string& live);

}  // namespace bench::serve
