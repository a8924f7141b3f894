#include "mlflow_rest_calls.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <sys/stat.h>

#include <bench/base/files.hpp>
#include <bench/base/hash.hpp>
#include <bench/base/text.hpp>
#include <bench/base/value.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/insight/run_view.hpp>
#include <bench/numbers/statistics.hpp>
#include <bench/results/analyses.hpp>
#include <bench/results/table.hpp>
#include <bench/results/tidy.hpp>
#include <bench/results/workpackage_values.hpp>
#include <bench/share/mlflow.hpp>
#include <bench/share/secrets.hpp>
#include <bench/space/graph.hpp>
#include <bench/space/metadata.hpp>
#include <bench/space/run.hpp>
#include <bench/space/variables.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::mlflow {
namespace {

namespace fs = std::filesystem;
using results::TidyColumn;
using workspace::State;
using workspace::Workpackage;

/// A file for MLflow.
struct Artifact {
  std::string name;
  fs::path file;  ///< Empty: the content is `text`.
  std::string text = {};
};

/// The desired content of an MLflow run.
struct Content {
  NewRun run;
  Batch batch;
  Status status = Status::running;
  std::optional<long long> end_ms;
  std::vector<Artifact> artifacts;
};

constexpr double ms_per_s = 1000;

long long ms_of(double unix_s) {
  return std::llround(unix_s * ms_per_s);
}

/// Names as keys of MLflow, each of them once.
class UniqueKeys {
 public:
  std::string key_of(const std::string& name) {
    std::string key = valid_key(name);
    for (int k = 2; !taken_.insert(key).second; ++k)
      key = cut(valid_key(name), longest_key - 8) + fmt::format("_{}", k);
    return key;
  }

 private:
  std::set<std::string> taken_;
};

/// Keys and values with unique keys, within the limits. Empty values are left out, since some
/// MLflow stores reject them.
class KeyedTexts {
 public:
  explicit KeyedTexts(Pairs& all, std::size_t most) : all_(all), most_(most) {}

  void add(const std::string& name, const std::string& value) {
    if (!value.empty())
      all_.emplace_back(keys_.key_of(name), cut(value, most_));
  }

 private:
  Pairs& all_;
  std::size_t most_;
  UniqueKeys keys_;
};

Status status_of(State state) {
  if (state == State::done)
    return Status::finished;
  return state == State::failed ? Status::failed : Status::killed;
}

/// Result files that `bench result` wrote.
std::vector<Artifact> tables_of(const space::Run& run) {
  std::vector<Artifact> artifacts;
  std::error_code absent;
  for (const auto& entry : fs::directory_iterator(run.directory.path / "result", absent))
    if (entry.is_regular_file(absent))
      artifacts.push_back({.name = "result/" + entry.path().filename().string(), .file = entry});
  std::ranges::sort(artifacts, {}, &Artifact::name);
  return artifacts;
}

/// Maps a run of bench to MLflow runs: one for itself, and one for each finished workpackage.
class RunContent {
 public:
  /// All references must outlive this object.
  RunContent(const space::Run& run, const workspace::Workspace& workspace,
             const results::Analyses& analyses, bool own)
      : run_(run),
        own_(own),
        table_(results::tidy(std::vector<results::TidyRun>{{run, workspace, analyses}})),
        view_(run, workspace, std::move(table_.workpackages), std::move(table_.attempts)),
        evaluator_(space::evaluator_of(run)),
        graph_(run, view_.all(), evaluator_),
        values_(run, graph_, evaluator_),
        last_change_unix_s_(workspace.last_change_unix_s()),
        scrubber_(crate::scrubber_of(workspace)) {
    for (std::size_t k = 0; k < view_.all().size(); ++k)
      if (view_.all()[k].has_ended())
        ended_.push_back(k);
  }

  const space::Run& run() const { return run_; }
  /// Knows the secrets of the run.
  const crate::Scrubber& scrubber() const { return scrubber_; }
  Content parent() const {
    const space::RunMetadata& metadata = run_.metadata;
    Content content;
    content.run.name =
        fmt::format("{} {}", metadata.benchmark, workspace::padded(run_.directory.id));
    content.run.start_ms = ms_of(metadata.started_unix_s.value_or(0));
    content.run.tags = {
        {run_tag, metadata.uuid}, {workpackage_tag, "all"}, {"mlflow.runName", content.run.name}};
    KeyedTexts tags(content.batch.tags, longest_tag);
    tags.add("mlflow.source.name", metadata.input_file);
    tags.add("mlflow.note.content", metadata.comment);
    if (const auto git = metadata.provenance.find("git_revision"); git != metadata.provenance.end())
      tags.add("mlflow.source.git.commit", git->second);
    std::map<State, long long> counts;
    for (const Workpackage& workpackage : view_.all())
      ++counts[workpackage.has_ended() ? workpackage.state : State::ready];
    for (const auto& [state, count] : counts)
      tags.add(
          fmt::format("bench.workpackages_{}", state == State::ready ? "open" : name_of(state)),
          std::to_string(count));
    tags.add("bench.benchmark", metadata.benchmark);
    tags.add("bench.run", workspace::padded(run_.directory.id));
    tags.add("bench.directory", run_.directory.path.string());
    tags.add("bench.platform", metadata.platform);
    tags.add("bench.tags", metadata.tags);
    tags.add("bench.version", metadata.bench_version);
    tags.add("bench.input_sha256", metadata.input_sha256.value_or(""));
    for (const auto& [name, value] : metadata.provenance)
      if (name != "git_difference" &&
          name != "libraries")  // too long for a tag; `bench export` includes it
        tags.add("bench." + name, value);
    if (open() == 0) {
      content.status = counts.contains(State::failed) ? Status::failed : Status::finished;
      content.end_ms = last_change_unix_s_ ? ms_of(*last_change_unix_s_) : content.run.start_ms;
    }
    content.artifacts.push_back({.name = "input.json", .file = {}, .text = metadata.document});
    if (own_)
      for (Artifact& table : tables_of(run_))
        content.artifacts.push_back(std::move(table));
    return content;
  }

  std::size_t ended() const { return ended_.size(); }
  std::size_t open() const { return table_.table.rows.size() - ended_.size(); }
  /// @param number below `ended`
  Content child(std::size_t number) const {
    const std::size_t row = ended_.at(number);
    const Workpackage& workpackage = view_.all()[row];
    const workspace::Attempt* attempt = view_.attempt(workpackage.id);
    Content content;
    content.run.name = fmt::format("{}_{}", workspace::padded(workpackage.id), workpackage.step);
    const double run_start_s = run_.metadata.started_unix_s.value_or(0);
    const double start_s =
        attempt ? attempt->started_unix_s.value_or(attempt->claimed_unix_s) : run_start_s;
    const double end_s =
        attempt ? std::max(start_s, attempt->ended_unix_s.value_or(start_s)) : start_s;
    content.run.start_ms = ms_of(start_s);
    content.end_ms = ms_of(end_s);
    content.status = status_of(workpackage.state);
    content.run.tags = {{run_tag, run_.metadata.uuid},
                        {workpackage_tag, std::to_string(workpackage.id)},
                        {attempt_tag, attempt ? attempt->uuid : "none"},
                        {"mlflow.runName", content.run.name}};
    KeyedTexts params(content.batch.params, longest_param);
    for (const auto& [name, value] : workpackage.parameters)
      params.add(name, value);
    KeyedTexts tags(content.batch.tags, longest_tag);
    tags.add("mlflow.source.name", run_.metadata.input_file);
    tags.add("bench.benchmark", run_.metadata.benchmark);
    tags.add("bench.platform", run_.metadata.platform);
    tags.add("bench.step", workpackage.step);
    tags.add("bench.iteration", std::to_string(workpackage.iteration));
    tags.add("bench.state", std::string(name_of(workpackage.state)));
    tags.add("bench.reason", workpackage.reason);
    if (attempt) {
      tags.add("bench.host", attempt->host);
      tags.add("bench.job_id", attempt->job_id);
      tags.add("bench.outcome", attempt->outcome);
      if (attempt->exit_code)
        tags.add("bench.exit_code", std::to_string(*attempt->exit_code));
    }
    add_found(row, workpackage, ms_of(end_s), content.batch);
    if (own_)
      content.artifacts = artifacts_of(workpackage);
    return content;
  }

 private:
  void add_found(std::size_t row, const workspace::Workpackage& workpackage, long long time_ms,
                 Batch& batch) const {
    const auto series = own_ && !workpackage.was_never_made() && workpackage.state != State::skipped
                            ? values_.series(workpackage)
                            : decltype(values_.series(workpackage)){};
    Pairs texts;
    KeyedTexts tags(texts, longest_tag);
    UniqueKeys keys;
    for (std::size_t k = 0; k < table_.columns.size(); ++k) {
      const results::Heading& heading = table_.table.headings[k];
      const results::Cell& cell = table_.table.rows[row][k];
      const bool is_time = heading.title == "run_time" && table_.columns[k] == TidyColumn::end;
      if (table_.columns[k] != TidyColumn::finding && table_.columns[k] != TidyColumn::meter &&
          !is_time)
        continue;
      if (!cell.absent_reason.empty())
        tags.add(absent_tag + heading.title, cell.absent_reason);
      if (!cell.value)
        continue;
      const auto number = numbers::number_of(*cell.value);
      if (!number) {
        tags.add(heading.title, to_text(*cell.value));
        continue;
      }
      tags.add("bench.unit." + heading.title, heading.unit);
      if (cell.estimated)
        tags.add("bench.estimated." + heading.title, "true");
      const std::string key = keys.key_of(heading.title);
      const auto found = series.find(heading.title);
      if (found == series.end())
        batch.metrics.push_back({key, *number, time_ms, workpackage.iteration});
      else
        for (std::size_t step = 0; step < found->second.size(); ++step)
          batch.metrics.push_back(
              {key, found->second[step], time_ms, static_cast<long long>(step)});
    }
    batch.tags.insert(batch.tags.end(), texts.begin(), texts.end());
  }

  std::vector<Artifact> artifacts_of(const workspace::Workpackage& workpackage) const {
    if (workpackage.was_never_made() || workpackage.state == State::skipped)
      return {};
    const fs::path directory = run_.directory.path / workpackage.directory;
    std::set<fs::path> files;
    for (const bool standard_error : {false, true})
      for (const fs::path& file : view_.output_files(workpackage, standard_error))
        files.insert(file);
    for (const char* name : {"job.sh", "work/energy.txt"})
      if (space::open_output(run_, directory / name).valid())
        files.insert((directory / name).lexically_normal());
    std::vector<Artifact> artifacts;
    for (const fs::path& file : files) {
      const std::string name = file.lexically_relative(directory.lexically_normal()).string();
      artifacts.push_back(
          {.name = name.starts_with("..") ? file.filename().string() : name, .file = file});
    }
    return artifacts;
  }

  const space::Run& run_;
  bool own_;
  results::TidyTable table_;
  insight::RunView view_;
  mutable evaluate::Evaluator evaluator_;
  space::Graph graph_;
  results::WorkpackageValues values_;
  std::vector<std::size_t> ended_;  ///< Indices of workpackages and rows.
  std::optional<double> last_change_unix_s_;
  crate::Scrubber scrubber_;
};

/// The bytes of an artifact; nothing if it is unreadable or larger than 16 MiB.
std::optional<std::string> read_artifact(const space::Run& run, const Artifact& artifact) {
  constexpr off_t longest_artifact = 16 << 20;
  if (artifact.file.empty())
    return artifact.text;
  const UniqueFd fd = space::open_output(run, artifact.file);
  struct stat status {};
  if (!fd.valid() || ::fstat(fd.get(), &status) != 0 || status.st_size > longest_artifact)
    return std::nullopt;
  return read_all(fd, artifact.file);
}

constexpr const char* sent_tag = "bench.sent";
constexpr const char* state_tag = "bench.state";
constexpr const char* obsolete = "obsolete";

/// Workpackage and attempt.
using Identity = std::pair<std::string, std::string>;

std::string value_of(const std::map<std::string, std::string>& tags, const char* key) {
  const auto found = tags.find(key);
  return found == tags.end() ? "" : found->second;
}

Identity identity_of(const Pairs& tags) {
  const std::map<std::string, std::string> all(tags.begin(), tags.end());
  return {value_of(all, workpackage_tag), value_of(all, attempt_tag)};
}

/// A hash of the desired content.
std::string digest_of(const Content& content) {
  std::string all = fmt::format("{} {} {}\n", content.run.name, static_cast<int>(content.status),
                                content.end_ms.value_or(0));
  const auto add = [&](const std::string& text) { all += fmt::format("{}:{}", text.size(), text); };
  for (const Pairs* pairs : {&content.run.tags, &content.batch.params, &content.batch.tags})
    for (const auto& [key, value] : *pairs) {
      add(key);
      add(value);
    }
  for (const Metric& metric : content.batch.metrics)
    all += fmt::format("{} {} {}\n", metric.key, python_float(metric.value), metric.step);
  for (const Artifact& artifact : content.artifacts) {
    std::error_code absent;
    add(artifact.name);
    add(artifact.file.empty() ? artifact.text
                              : std::to_string(fs::file_size(artifact.file, absent)));
  }
  return sha256(all);
}

class Sender {
 public:
  Sender(const RunContent& content, TrackingStore& store, Sent& sent)
      : content_(content), store_(store), sent_(sent), scrubber_(content.scrubber()) {
    for (StoredRun& run : store.find({{run_tag, content.run().metadata.uuid}})) {
      Identity identity{value_of(run.tags, workpackage_tag), value_of(run.tags, attempt_tag)};
      known_.try_emplace(std::move(identity), std::move(run));
    }
  }

  /// @returns its id in MLflow
  std::string send(Content content) {
    scrub(content);
    const Identity identity = identity_of(content.run.tags);
    current_.insert(identity);
    const std::string digest = digest_of(content);
    const auto found = known_.find(identity);
    const bool is_known = found != known_.end();
    if (is_known && value_of(found->second.tags, sent_tag) == digest) {
      ++sent_.unchanged;
      return found->second.id;
    }
    const StoredRun run = is_known ? store_.read(found->second) : store_.create(content.run);
    put_artifacts(content, run);
    store_.set_status(run, content.status, content.end_ms);
    log(content.batch, run, digest);
    ++(is_known ? sent_.updated : sent_.created);
    return run.id;
  }

  /// Marks the runs of obsolete attempts: repeated or removed ones.
  void mark_obsolete() {
    for (const auto& [identity, run] : known_) {
      if (current_.contains(identity) || value_of(run.tags, state_tag) == obsolete)
        continue;
      store_.log(run, {.tags = {{state_tag, obsolete}, {sent_tag, obsolete}}});
      ++sent_.obsolete;
    }
  }

 private:
  void scrub(Content& content) {
    for (Pairs* pairs : {&content.run.tags, &content.batch.params, &content.batch.tags})
      for (auto& [key, value] : *pairs)
        value = crate::without_secrets(scrubber_, key, value);
  }

  void put_artifacts(const Content& content, const StoredRun& run) {
    if (content.artifacts.empty())
      return;
    if (!store_.takes_artifacts(run)) {
      sent_.artifact_uri = run.artifact_uri;
      return;
    }
    for (const Artifact& artifact : content.artifacts) {
      const std::string place = artifact.file.empty() ? artifact.name : artifact.file.string();
      const auto bytes = read_artifact(content_.run(), artifact);
      const auto cleaned = bytes ? scrubber_.clean(*bytes, place) : crate::Scrubber::Cleaned{};
      if (cleaned.content && store_.put_artifact(run, artifact.name, *cleaned.content))
        ++sent_.artifacts;
      else if (bytes && !cleaned.content)
        sent_.with_secrets.push_back(place);
      else
        sent_.left_out.push_back(place);
    }
    sent_.unsearched = scrubber_.unsearched();
  }

  /// Replaces the reason of a missing value that a later analysis found.
  static void add_outdated_reasons(const Batch& batch, const StoredRun& run, Batch& lacking) {
    const std::map<std::string, std::string> current(batch.tags.begin(), batch.tags.end());
    for (const auto& [key, value] : run.tags)
      if (key.starts_with(absent_tag) && !current.contains(key))
        lacking.tags.emplace_back(key, "found by a later analysis");
  }

  void log(const Batch& batch, const StoredRun& run, const std::string& digest) {
    Batch lacking =
        missing(batch, run, [&](const std::string& key) { return store_.history(run, key); });
    add_outdated_reasons(batch, run, lacking);
    std::vector<Batch> batches = batches_of(lacking);
    for (const Batch& one : batches) {
      sent_.params += one.params.size();
      sent_.metrics += one.metrics.size();
    }
    batches.back().tags.emplace_back(sent_tag, digest);
    for (const Batch& one : batches)
      store_.log(run, one);
  }

  const RunContent& content_;
  TrackingStore& store_;
  Sent& sent_;
  crate::Scrubber scrubber_;
  std::map<Identity, StoredRun> known_;
  std::set<Identity> current_;
};

}  // namespace

Sent send(const space::Run& run, const workspace::Workspace& workspace,
          const results::Analyses& analyses, bool own, TrackingStore& store,
          const Progressed& progressed) {
  const RunContent content(run, workspace, analyses, own);
  Sent sent{.open = content.open()};
  Sender sender(content, store, sent);
  // The parent run comes first, since the others refer to it.
  sent.run_id = sender.send(content.parent());
  const std::size_t all = content.ended();
  for (std::size_t k = 0; k < all; ++k) {
    Content child = content.child(k);
    for (Pairs* tags : {&child.run.tags, &child.batch.tags})
      tags->emplace_back("mlflow.parentRunId", sent.run_id);
    sender.send(child);
    progressed(k + 1, all);
  }
  sender.mark_obsolete();
  return sent;
}

}  // namespace bench::mlflow
