#include "crate_package.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <stdlib.h>

#include <bench/base/chunks.hpp>
#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/markdown.hpp>
#include <bench/base/text.hpp>
#include <bench/base/time.hpp>
#include <bench/machine/batch_system.hpp>
#include <bench/machine/platform.hpp>
#include <bench/results/table.hpp>
#include <bench/results/tidy.hpp>
#include <bench/share/crate.hpp>
#include <bench/share/crate_archive.hpp>
#include <bench/share/secrets.hpp>
#include <bench/space/metadata.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::crate {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using machine::JobReport;
using workspace::Attempt;

std::string cell(const std::string& text) {
  return markdown_text(one_line(text));
}

std::string environment_table(const std::vector<EnvironmentItem>& environment) {
  constexpr std::size_t most_bytes = 500;
  std::string text = "| | |\n|---|---|\n";
  for (const EnvironmentItem& item : environment)
    if (item.value.size() > most_bytes)
      text +=
          fmt::format("| {} | {} bytes, see `environment.json` |\n", item.name, item.value.size());
    else if (!item.value.empty())
      text += fmt::format("| {} | {} |\n", item.name, cell(item.value));
  return text;
}

/// `REPRODUCE.md`: the command that repeats the run, its requirements, and the purpose of each
/// file.
std::string reproduce_text(const space::Run& run, const std::vector<EnvironmentItem>& environment,
                           const Package& package) {
  const space::RunMetadata& metadata = run.metadata;
  std::string text = fmt::format(
      "# Run {0} of the benchmark {1}\n\n"
      "Started {2} on platform `{3}` with bench {4}.\n"
      "To repeat it, install bench {4} and run this command in this directory:\n\n"
      "    bench run . --outpath ../rerun\n\n"
      "It runs `input/resolved.xml`, the input with all that it includes, on the same platform.\n"
      "`--platform NAME` selects another one, `--account NAME` your account.\n"
      "`bench result run` shows the results of the run that was exported.\n\n",
      metadata.id, cell(metadata.benchmark), space::start_in_utc(metadata), metadata.platform,
      metadata.bench_version);
  text +=
      "| path | content |\n|---|---|\n"
      "| `ro-crate-metadata.json` | the run as a Workflow Run RO-Crate |\n"
      "| `input/` | what the run was made from: input, platform, templates, files |\n"
      "| `run/` | its directory: database, job scripts, output, energy |\n"
      "| `environment.json` | machine and software, as far as they were recorded |\n"
      "| `scheduler.json` | records of the jobs, if any: bench's and the batch system's |\n"
      "| `left_out.csv` | files that are not here, and why |\n"
      "| `scrubbed.csv` | secrets that were replaced by `SCRUBBED` |\n"
      "| `SHA256SUMS` | `sha256sum -c SHA256SUMS` checks all files |\n\n";
  if (!package.scrubber().scrubbed().empty())
    text +=
        "Secrets of the run were replaced by `SCRUBBED`: see `scrubbed.csv`. Before you repeat\n"
        "the run, replace that word in `input/resolved.xml` with your own.\n\n";
  if (!package.left_out().empty())
    text +=
        "Some files are not part of the export: see `left_out.csv`. To repeat the run, you\n"
        "need those that its file sets name.\n\n";
  return text + "## Environment\n\n" + environment_table(environment);
}

/// The batch system's records, by job.
struct Answer {
  std::string system;  ///< Empty: it was not asked.
  std::map<std::string, JobReport> jobs;
  std::string failure;  ///< Why the other jobs are unknown.
};

void ask(machine::BatchSystem& system, const std::vector<std::string>& ids, std::size_t at_once,
         Answer& answer) {
  for (const auto& chunk : chunks_of(ids, at_once)) {
    if (!answer.failure.empty())
      return;
    const std::vector<std::string> some(chunk.begin(), chunk.end());
    // Accounting records how a job ended; the queue may list jobs that accounting lacks.
    for (const bool accounting : {false, true}) {
      machine::QueryResult result = accounting ? system.query_accounting(some) : system.ask(some);
      if (accounting)
        answer.failure = result.failure;
      for (JobReport& report : result.jobs)
        answer.jobs.insert_or_assign(report.id, std::move(report));
    }
  }
}

Answer ask_about(const space::Run& run, const std::vector<std::string>& ids) {
  Answer answer;
  const std::string source = space::platform_source(run);
  if (!machine::is_platform_file(source) &&
      !std::ranges::binary_search(machine::platform_names(), source)) {
    answer.failure = fmt::format("platform {} is unknown on this machine", source);
    return answer;
  }
  const machine::Platform platform = space::platform_of(run);
  const auto system = machine::batch_system_of(platform);
  answer.system = system->name();
  ask(*system, ids, static_cast<std::size_t>(std::max(1, platform.polling.jobs_per_question)),
      answer);
  if (answer.failure.empty())
    answer.failure = fmt::format("{} no longer knows the job", answer.system);
  return answer;
}

Json ours(const Attempt& attempt) {
  Json json{{"job_id", attempt.job_id}, {"host", attempt.host}};
  if (attempt.started_unix_s)
    json["started"] = utc_time_at(*attempt.started_unix_s);
  if (attempt.ended_unix_s)
    json["ended"] = utc_time_at(*attempt.ended_unix_s);
  if (attempt.exit_code)
    json["exit_code"] = *attempt.exit_code;
  json["outcome"] = attempt.outcome;
  if (!attempt.reason.empty())
    json["reason"] = attempt.reason;
  return json;
}

Json theirs(const Attempt& attempt, const Answer& answer) {
  const auto found = answer.jobs.find(attempt.job_id);
  if (found == answer.jobs.end())
    return {{"absent", answer.failure}};
  const JobReport& report = found->second;
  Json json{{"state", report.word}};
  if (!report.reason.empty())
    json["reason"] = report.reason;
  if (!report.host.empty())
    json["host"] = report.host;
  return json;
}

/// bench's record of each job and the batch system's current record, as JSON. Empty for a run
/// without jobs.
std::string scheduler_json(const space::Run& run, const std::vector<Attempt>& attempts) {
  std::vector<std::string> ids;
  for (const Attempt& attempt : attempts)
    if (!attempt.job_id.empty() && std::ranges::find(ids, attempt.job_id) == ids.end())
      ids.push_back(attempt.job_id);
  if (ids.empty())
    return "";
  const Answer answer = ask_about(run, ids);
  Json jobs = Json::array();
  for (const Attempt& attempt : attempts)
    if (!attempt.job_id.empty())
      jobs.push_back({{"workpackage", attempt.workpackage},
                      {"bench", ours(attempt)},
                      {"batch_system", theirs(attempt, answer)}});
  return Json{{"batch_system", answer.system}, {"jobs", std::move(jobs)}}.dump(
             1, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

/// A temporary directory that only this user can read, since its files contain secrets.
DirectoryRemoval make_temporary() {
  std::string path = (fs::temp_directory_path() / "bench-export.XXXXXX").string();
  if (!::mkdtemp(path.data()))
    throw Error::of_system(fmt::format("cannot create {}", path), errno);
  return DirectoryRemoval(path);
}

/// Whether a file is the lock, the database or one of SQLite's auxiliary files.
bool is_of_database(const fs::path& file) {
  return file.filename().string().starts_with("workspace.");
}

bool leads_out(const fs::path& link, const fs::path& directory) {
  std::error_code failed;
  const fs::path real = fs::weakly_canonical(link, failed);
  return failed || !is_written_below(directory, real);
}

/// Adds the run directory: a scrubbed snapshot of the database, and all other files. Links are not
/// followed; those that lead out of the run are listed as left out.
void add_run(const space::Run& run, const workspace::Workspace& workspace, Package& package) {
  const fs::path& directory = run.directory.path;
  const DirectoryRemoval temporary = make_temporary();
  const fs::path copy = temporary.path() / "workspace.db";
  workspace.copy_to(copy, [&](const std::string& text, const std::string& place) {
    return package.scrubber().scrub(text, "run/workspace.db " + place);
  });
  package.add_as_is("run/workspace.db", read_file(copy));

  std::vector<fs::path> files;
  std::error_code failed;
  fs::recursive_directory_iterator entry(directory, fs::directory_options::skip_permission_denied,
                                         failed);
  for (; !failed && entry != fs::end(entry); entry.increment(failed))
    if (!entry->is_directory(failed) || entry->is_symlink(failed))
      files.push_back(entry->path());
  if (failed)
    throw Error::of_system(fmt::format("cannot read {}", directory.string()), failed.value());
  std::ranges::sort(files);
  for (const fs::path& file : files) {
    const fs::path relative = file.lexically_relative(directory);
    const std::string path = (run_directory / relative).string();
    if (!relative.has_parent_path() && is_of_database(relative))
      continue;
    if (!fs::is_symlink(file, failed))
      package.add_file(path, directory, file);
    else if (leads_out(file, directory))
      package.leave_out(path, "is a link that leads out of the run directory");
  }
}

std::string left_out_csv(const Package& package) {
  std::string text = "path,reason\n";
  for (const LeftOut& one : package.left_out())
    text += fmt::format("{},{}\n", results::csv_field(one.path, ","),
                        results::csv_field(one.reason, ","));
  return text;
}

std::string scrubbed_csv(const Package& package) {
  std::string text = "place,line,rule,name\n";
  for (const Scrubbed& one : package.scrubber().scrubbed())
    text += fmt::format("{},{},{},{}\n", results::csv_field(one.place, ","), one.line,
                        results::csv_field(one.rule, ","), results::csv_field(one.name, ","));
  for (const std::string& file : package.scrubber().unsearched())
    text += fmt::format("{},0,not searched,\n", results::csv_field(file, ","));
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
void refuse_inside(const space::Run& run, const fs::path& output) {
  if (is_written_below(run.directory.path, fs::weakly_canonical(fs::absolute(output))))
    throw Error(Id::usage,
                fmt::format("{} is inside of the run directory that is exported", output.string()),
                "choose another place with --output");
}

void add_all(const space::Run& run, const workspace::Workspace& workspace,
             const results::TidyTable& tidy, const Options& options, Package& package) {
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

/// The outpath of the benchmark without its directories, which belong to another machine.
std::string outpath_of(const space::RunMetadata& metadata) {
  return (metadata.benchmark.find('/') == std::string::npos ? metadata.benchmark : "rerun") +
         "_rerun";
}

}  // namespace

Exported export_run(const space::Run& run, const workspace::Workspace& workspace,
                    const results::TidyTable& tidy, const Options& options) {
  if (workspace::is_made_by_jube(run.directory.path))
    throw Error(Id::unsupported,
                fmt::format("the run in {} was made by JUBE: it has no database to export",
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

bool is_export(const fs::path& directory) {
  std::error_code absent;
  return fs::is_regular_file(directory / "ro-crate-metadata.json", absent) &&
         fs::is_regular_file(directory / resolved_file, absent) &&
         fs::is_regular_file(directory / "run" / "workspace.db", absent);
}

space::Request rerun_request(const fs::path& directory, space::Request request) {
  using workspace::Workspace;
  const space::RunMetadata metadata = space::metadata_from(
      Workspace::open(directory / run_directory, Workspace::Access::read).facts());
  const auto take = [](std::string& option, const std::string& recorded) {
    if (option.empty())
      option = recorded;
  };
  request.input_file = directory / resolved_file;
  const bool same_platform = request.platform.empty() && request.tags.empty();
  take(request.outpath, outpath_of(metadata));
  if (request.only_benchmarks.empty())
    request.only_benchmarks = {metadata.benchmark};
  if (!request.comment)
    request.comment = metadata.comment;
  if (!request.order_seed)
    request.order_seed = metadata.order_seed;
  if (!request.parallel && metadata.parallel)
    request.parallel = static_cast<int>(*metadata.parallel);
  take(request.power_source, metadata.power_source);
  if (same_platform) {
    request.platform = metadata.platform;
    take(request.asking.partition, metadata.partition.value_or(""));
    take(request.asking.qos, metadata.qos.value_or(""));
    if (!request.launcher)
      request.launcher = metadata.launcher;
  }
  return request;
}

}  // namespace bench::crate
