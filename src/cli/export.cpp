#include "command.hpp"
#include "evaluation.hpp"
#include "interruption.hpp"
#include "runs.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/cli/output/comparison_text.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/insight/baseline.hpp>
#include <bench/insight/run_comparison.hpp>
#include <bench/results/report.hpp>
#include <bench/results/table.hpp>
#include <bench/results/tidy.hpp>
#include <bench/share/crate.hpp>
#include <bench/share/export_formats.hpp>
#include <bench/share/secrets.hpp>
#include <bench/space/metadata.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::cli {
namespace {

using workspace::RunDirectory;

constexpr const char* crate_format = "ro-crate";

struct ExportOptions {
  RunChoice choice;
  std::string format = crate_format;
  std::string output;
  std::string license;
  double most_mib = 64;
  double margin_percent = 1;
};

/// The tables of the benchmark in markdown.
std::string tables_of(const RunDirectory& directory) {
  const Evaluated one = evaluate(directory, {}, false);
  const results::Report report = report_of(one, one.run);
  std::vector<std::string> tables;
  for (const results::FilledTable& filled : report.tables)
    tables.push_back(results::render(filled.table, "markdown"));
  return join(tables, "\n");
}

/// What `bench baseline check` says; empty without accepted runs.
std::string baseline_of(const RunDirectory& directory, double margin) {
  EvaluatedRuns runs;
  const Evaluated& checked = runs.read(directory);
  const space::RunMetadata metadata = checked.run.metadata;
  const auto known = known_runs(outpath_of(directory.path));
  const insight::Baseline baseline = insight::baseline_of(metadata, known, {});
  // A run that only repeats points of another belongs to the check of that one.
  if (baseline.runs.empty() || metadata.confirms)
    return "";
  std::vector<RunDirectory> with_repetitions{directory};
  std::ranges::copy(insight::confirmations_of(metadata.uuid, known),
                    std::back_inserter(with_repetitions));
  const insight::RunComparison comparison = insight::compare_runs(
      {runs.sides(baseline.runs)}, {runs.sides(with_repetitions)}, {.margin = margin});
  return outcome_text(insight::check_of(comparison, margin), margin) + "\n" +
         results::render(comparison_table(comparison), "markdown");
}

int write_format(const formats::Format& format, const ExportOptions& options,
                 const RunDirectory& directory) {
  const Evaluated one = evaluate(directory, {}, false, Found::in_workpackages);
  const std::vector<results::TidyRun> runs{{one.run, one.workspace, one.analyses}};
  results::TidyTable tidy = results::tidy(runs);
  crate::Scrubber scrubber = crate::scrubber_of(one.workspace);
  for (workspace::Workpackage& workpackage : tidy.workpackages) {
    for (auto& [name, value] : workpackage.parameters)
      value = crate::without_secrets(scrubber, name, value);
    workpackage.reason = scrubber.scrub(workpackage.reason, "");
  }
  formats::Subject subject{.run = one.run, .tidy = tidy};
  if (format.needs_tables) {
    subject.tables = scrubber.scrub(tables_of(directory), "");
    subject.baseline = scrubber.scrub(baseline_of(directory, options.margin_percent / 100), "");
  }
  const std::string text = format.render(subject);
  if (options.output.empty())
    print(text);
  else
    write_output(options.output, text);
  return 0;
}

int write_crate(const ExportOptions& options, const RunDirectory& directory) {
  const Evaluated one = evaluate(directory, {}, false, Found::in_workpackages);
  const std::vector<results::TidyRun> runs{{one.run, one.workspace, one.analyses}};
  constexpr double bytes_per_mib = 1024 * 1024;
  constexpr double most_mib = 1e12;  // larger values mean no limit
  const std::string output =
      options.output.empty()
          ? fmt::format("{}_{}_export", one.run.directory.path.parent_path().filename().string(),
                        workspace::padded(directory.id))
          : options.output;
  const crate::Exported exported = crate::export_run(
      one.run, one.workspace, results::tidy(runs),
      {.output = output,
       .most_bytes = options.most_mib < most_mib
                         ? static_cast<std::uintmax_t>(options.most_mib * bytes_per_mib)
                         : std::numeric_limits<std::uintmax_t>::max(),
       .license = options.license,
       .interrupted = &catch_interruptions()});
  if (exported.interrupted) {
    tell("interrupted: nothing was exported");
    return interruption_code();
  }
  print(output + "\n");
  tell(fmt::format("exported {}, {:.1f} MB", plural(exported.files, "file"),
                   static_cast<double>(exported.bytes) / 1e6));
  if (exported.left_out > 0)
    tell(fmt::format("note: {} left out, see left_out.csv", plural(exported.left_out, "file")));
  if (exported.scrubbed > 0)
    tell(fmt::format("note: {} replaced, see scrubbed.csv", plural(exported.scrubbed, "secret")));
  constexpr std::size_t most_named = 3;
  for (std::size_t k = 0; k < exported.unsearched.size() && k < most_named; ++k)
    tell(fmt::format("note: {} could not be searched for secrets", exported.unsearched[k]));
  if (exported.unsearched.size() > most_named)
    tell(fmt::format("note: {} could not be searched either, see scrubbed.csv",
                     plural(exported.unsearched.size() - most_named, "other file")));
  return 0;
}

/// The run to export. Without `-i`, skips runs by `baseline check --confirm`, which only repeat
/// points of the intended one.
RunDirectory run_to_export(const RunChoice& choice) {
  const RunDirectory last = one_run(choice.runs(), "export");
  if (!choice.ids.empty() || workspace::is_run(choice.directory))
    return last;
  const auto facts =
      workspace::Workspace::open(last.path, workspace::Workspace::Access::read).facts();
  const auto confirms = facts.find("confirms");
  if (confirms == facts.end() || confirms->second.empty())
    return last;
  for (const insight::KnownRun& run : known_runs(choice.directory))
    if (run.metadata.uuid == confirms->second) {
      tell(
          fmt::format("note: run {0} only repeats points of run {1}, which is exported; `-i {0}` "
                      "exports it",
                      last.id, run.directory.id));
      return run.directory;
    }
  return last;
}

int export_one(const ExportOptions& options) {
  const RunDirectory directory = run_to_export(options.choice);
  if (const formats::Format* format = formats::find_format(options.format))
    return write_format(*format, options, directory);
  return write_crate(options, directory);
}

/// An option of one format only would otherwise be ignored.
void require_format(const CLI::App& app, const ExportOptions& options) {
  const bool is_crate = options.format == crate_format;
  for (const char* name : {"--license", "--max-file-size"})
    if (app.get_option(name)->count() > 0 && !is_crate)
      throw Error(Id::usage, fmt::format("{} applies to the format {}, not to {}", name,
                                         crate_format, options.format));
  if (app.get_option("--margin")->count() > 0 && options.format != "summary")
    throw Error(Id::usage,
                fmt::format("--margin applies to the format summary, not to {}", options.format));
}

std::vector<std::string> export_formats() {
  std::vector<std::string> names{crate_format};
  for (const formats::Format& format : formats::formats())
    names.emplace_back(format.name);
  return names;
}

}  // namespace

std::function<int()> declare_export(CLI::App& app) {
  const auto options = std::make_shared<ExportOptions>();
  options->choice.declare(app);
  app.add_option(
         "-f,--format", options->format,
         fmt::format("{}: {}", "ro-crate (a directory or archive that others can run again)",
                     join(export_formats(), ", ")))
      ->type_name("FORMAT")
      ->check(CLI::IsMember(export_formats()))
      ->capture_default_str();
  app.add_option("--output", options->output,
                 "where to write; .tar, .tar.gz, .tgz and .zip make an archive of an ro-crate; "
                 "default: a directory here, or standard output for the other formats")
      ->type_name("PATH");
  app.add_option("--license", options->license, "licence of the ro-crate, preferably a URL")
      ->type_name("TEXT");
  app.add_option("--max-file-size", options->most_mib, "leave larger files out of an ro-crate")
      ->type_name("MIB")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  declare_margin(app, options->margin_percent);
  return [options, &app] {
    require_format(app, *options);
    return export_one(*options);
  };
}

}  // namespace bench::cli
