#include "environment.hpp"
#include "input_files.hpp"
#include "metadata.hpp"
#include "package.hpp"
#include "reproduce.hpp"
#include "run_files.hpp"
#include "scheduler_record.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/below.hpp>
#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/results/table.hpp>
#include <bench/results/tidy.hpp>
#include <bench/share/archive.hpp>
#include <bench/share/export.hpp>
#include <bench/share/secrets.hpp>
#include <bench/share/secrets_of_run.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::crate {
namespace {

namespace fs = std::filesystem;

std::string left_out_csv(const Package& package) {
  std::string text = "path,reason\n";
  for (const LeftOut& one : package.left_out())
    text += fmt::format("{},{}\n", result::csv_field(one.path, ","),
                        result::csv_field(one.reason, ","));
  return text;
}

std::string scrubbed_csv(const Package& package) {
  std::string text = "place,line,rule,name\n";
  for (const Scrubbed& one : package.scrubber().scrubbed())
    text += fmt::format("{},{},{},{}\n", result::csv_field(one.place, ","), one.line,
                        result::csv_field(one.rule, ","), result::csv_field(one.name, ","));
  for (const std::string& file : package.scrubber().unsearched())
    text += fmt::format("{},0,not searched,\n", result::csv_field(file, ","));
  return text;
}

std::string checksums(const Package& package) {
  std::vector<std::string> lines;
  for (const PackedFile& file : package.files())
    if (file.path.find('\n') == std::string::npos)  // sha256sum would need escapes for it
      lines.push_back(fmt::format("{}  {}\n", file.sha256, file.path));
  std::ranges::sort(lines, {}, [](const std::string& line) { return line.substr(64); });
  return join(lines, "");
}

/// The export would contain itself.
void refuse_inside(const setup::Run& run, const fs::path& output) {
  if (is_written_below(run.directory.path, fs::weakly_canonical(fs::absolute(output))))
    throw Error(fmt::format("{} is inside of the run directory that is exported", output.string()),
                "choose another place with --output");
}

void add_all(const setup::Run& run, const workspace::Workspace& workspace,
             const tabulate::TidyTable& tidy, const Options& options, Package& package) {
  const auto environment = environment_of(run);
  // Another user's run could name any file of this user as its input.
  const bool is_own = workspace::is_own(run.directory.path);
  add_resolved_input(run, package);
  if (is_own)
    add_input(run, tidy.workpackages, package);
  else
    package.leave_out("input", "the run belongs to another user, so nothing outside of it is read");
  add_run(run, workspace, package);
  package.add_text("environment.json", environment_json(environment));
  if (const std::string jobs = is_own ? scheduler_json(run, tidy.attempts) : ""; !jobs.empty())
    package.add_text("scheduler.json", jobs);
  package.add_text("REPRODUCE.md", reproduce_text(run, environment, package));
  package.add_as_is("left_out.csv", left_out_csv(package));
  package.add_as_is("scrubbed.csv", scrubbed_csv(package));
  const std::string metadata = metadata_json({.run = run,
                                              .tidy = tidy,
                                              .environment = environment,
                                              .files = package.files(),
                                              .license = options.license});
  // All of its content is in the database, too, for which secrets are already listed.
  Scrubber scrubber = package.scrubber();
  package.add_as_is("ro-crate-metadata.json", scrubber.scrub(metadata, ""));
  package.add_as_is("SHA256SUMS", checksums(package));
}

}  // namespace

Exported export_run(const setup::Run& run, const workspace::Workspace& workspace,
                    const tabulate::TidyTable& tidy, const Options& options) {
  if (workspace::is_made_by_jube(run.directory.path))
    throw Error(fmt::format("the run in {} was made by JUBE: it has no database to export",
                            run.directory.path.string()),
                "choose another --format to export its results");
  refuse_inside(run, options.output);
  Scrubber scrubber = scrubber_of(workspace);
  const auto archive = make_archive(
      options.output, fmt::format("{}_{}", run.directory.path.parent_path().filename().string(),
                                  workspace::padded(run.directory.id)));
  Package package(*archive, scrubber, options.most_bytes, options.interrupted);
  add_all(run, workspace, tidy, options, package);
  if (package.is_interrupted())
    return {.interrupted = true};
  archive->finish();
  Exported exported{.files = package.files().size(),
                    .left_out = package.left_out().size(),
                    .scrubbed = scrubber.scrubbed().size(),
                    .unsearched = scrubber.unsearched()};
  for (const PackedFile& file : package.files())
    exported.bytes += file.bytes;
  return exported;
}

}  // namespace bench::crate
