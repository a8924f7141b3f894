
#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <bench/base/files.hpp>
#include <bench/base/hash.hpp>
#include <bench/base/text.hpp>
#include <bench/document/node.hpp>
#include <bench/document/read.hpp>
#include <bench/share/mlflow.hpp>

// The layout that MLflow's file store reads and `mlflow migrate-filestore` takes in:
//   EXPERIMENT/meta.yaml
//   EXPERIMENT/RUN/meta.yaml, params/KEY, tags/KEY, metrics/KEY, artifacts/
// The file of a metric has a line `timestamp value step` for each value. Source: what MLflow's own
// file store writes, and https://mlflow.org/docs/latest/self-hosting/migrate-from-file-store.
namespace bench::mlflow {
namespace {

namespace fs = std::filesystem;

constexpr const char* meta_file = "meta.yaml";
constexpr int source_local = 4;             ///< MLflow's enum value.
constexpr std::array statuses{1, 3, 4, 5};  ///< MLflow's enum value of each Status.

/// A text as YAML: a JSON string is also a YAML string.
std::string quoted(const std::string& text) {
  return nlohmann::json(with_visible_controls(text)).dump();
}

/// The sorted names of the subdirectories.
std::vector<std::string> folders_in(const fs::path& directory) {
  std::vector<std::string> names;
  std::error_code absent;
  for (const auto& entry : fs::directory_iterator(directory, absent))
    if (entry.is_directory(absent))
      names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

/// The contents of the files in a directory, by name.
std::map<std::string, std::string> files_in(const fs::path& directory) {
  std::map<std::string, std::string> files;
  std::error_code absent;
  for (const auto& entry : fs::directory_iterator(directory, absent))
    if (entry.is_regular_file(absent) && !entry.path().filename().string().starts_with('.'))
      files[entry.path().filename().string()] = read_file(entry.path());
  return files;
}

std::string text_of(const fs::path& file) {
  std::error_code absent;
  return fs::exists(file, absent) ? read_file(file) : "";
}

std::vector<Metric> metrics_in(const std::string& key, const std::string& text) {
  std::vector<Metric> metrics;
  for (const std::string& line : split(text, "\n")) {
    const std::vector<std::string> words = split_names(line, " ");
    if (words.size() < 2)
      continue;
    metrics.push_back({.key = key,
                       .value = parse_number(words[1]).value_or(0),
                       .timestamp_ms = parse_integer(words[0]).value_or(0),
                       .step = words.size() > 2 ? parse_integer(words[2]).value_or(0) : 0});
  }
  return metrics;
}

class FileStore : public TrackingStore {
 public:
  FileStore(const fs::path& directory, const std::string& experiment)
      : root_(fs::absolute(directory).lexically_normal()) {
    for (const std::string& id : folders_in(root_))
      if (parse_integer(id) && name_in(root_ / id / meta_file) == experiment)
        id_ = id;
    if (id_.empty())
      create_experiment(experiment);
  }

  const std::string& experiment_id() const override { return id_; }

  std::vector<StoredRun> find(const Pairs& tags) override {
    std::vector<StoredRun> runs;
    for (const std::string& id : folders_in(root_ / id_)) {
      const fs::path folder = root_ / id_ / id / "tags";
      if (!std::ranges::all_of(
              tags, [&](const auto& tag) { return text_of(folder / tag.first) == tag.second; }))
        continue;
      runs.push_back({.id = id, .artifact_uri = artifacts_of(id), .tags = files_in(folder)});
    }
    return runs;
  }

  StoredRun read(const StoredRun& run) override {
    StoredRun stored{.id = run.id,
                     .artifact_uri = artifacts_of(run.id),
                     .params = files_in(at(run) / "params"),
                     .tags = files_in(at(run) / "tags")};
    for (const auto& [key, text] : files_in(at(run) / "metrics"))
      for (const Metric& metric : metrics_in(key, text)) {
        Metric& latest = stored.latest.try_emplace(key, metric).first->second;
        if (std::pair(latest.step, latest.timestamp_ms) <=
            std::pair(metric.step, metric.timestamp_ms))
          latest = metric;
      }
    return stored;
  }

  StoredRun create(const NewRun& run) override {
    std::string identity = id_;
    for (const auto& [key, value] : run.tags)
      if (key == run_tag || key == workpackage_tag || key == attempt_tag)
        identity += "\n" + value;
    constexpr std::size_t digits = 32;
    const StoredRun stored{.id = sha256(identity).substr(0, digits)};
    for (const char* folder : {"params", "metrics", "artifacts", "tags"})
      make_directories(at(stored) / folder);
    write_meta(stored, run.name, run.start_ms, Status::running, std::nullopt);
    Pairs tags = run.tags;
    std::ranges::stable_partition(tags, [](const auto& tag) { return tag.first != run_tag; });
    for (const auto& [key, value] : tags)  // the tag by which the run is found comes last
      write_file_atomically(at(stored) / "tags" / key, value);
    return read(stored);
  }

  std::vector<Metric> history(const StoredRun& run, const std::string& key) override {
    return metrics_in(key, text_of(at(run) / "metrics" / key));
  }

  void log(const StoredRun& run, const Batch& batch) override {
    for (const auto& [key, value] : batch.params)
      write_file_atomically(at(run) / "params" / key, value);
    std::map<std::string, std::string> lines;
    for (const Metric& metric : batch.metrics)
      lines[metric.key] +=
          fmt::format("{} {} {}\n", metric.timestamp_ms, python_float(metric.value), metric.step);
    for (const auto& [key, added] : lines) {
      const fs::path file = at(run) / "metrics" / key;
      write_file_atomically(file, text_of(file) + added);
    }
    for (const auto& [key, value] : batch.tags)
      write_file_atomically(at(run) / "tags" / key, value);
  }

  void set_status(const StoredRun& run, Status status, std::optional<long long> end_ms) override {
    const document::Node meta = document::read_plain_file(at(run) / meta_file);
    write_meta(run, text_in(meta, "run_name"),
               parse_integer(text_in(meta, "start_time")).value_or(0), status, end_ms);
  }

  bool takes_artifacts(const StoredRun&) const override { return true; }

  bool put_artifact(const StoredRun& run, const std::string& name,
                    const std::string& content) override {
    const fs::path file = at(run) / "artifacts" / name;
    make_directories(file.parent_path());
    write_file_atomically(file, content);
    return true;
  }

 private:
  fs::path at(const StoredRun& run) const { return root_ / id_ / run.id; }
  std::string artifacts_of(const std::string& run) const {
    return (root_ / id_ / run / "artifacts").string();
  }

  static std::string text_in(const document::Node& meta, const char* key) {
    const document::Node* child = meta.first(key);
    return child ? child->text : "";
  }

  static std::string name_in(const fs::path& file) {
    std::error_code absent;
    return fs::exists(file, absent) ? text_in(document::read_plain_file(file), "name") : "";
  }

  /// Its id has 18 digits, as MLflow's own have.
  void create_experiment(const std::string& name) {
    constexpr unsigned long long first = 100'000'000'000'000'000;
    constexpr int hexadecimal = 16;
    const std::string digits = sha256(name).substr(0, 15);
    id_ = std::to_string(first + std::stoull(digits, nullptr, hexadecimal) % (9 * first));
    make_directories(root_ / id_);
    write_file_atomically(
        root_ / id_ / meta_file,
        fmt::format("artifact_location: {}\nexperiment_id: '{}'\nlifecycle_stage: active\n"
                    "name: {}\n",
                    quoted((root_ / id_).string()), id_, quoted(name)));
  }

  void write_meta(const StoredRun& run, const std::string& name, long long start_ms, Status status,
                  std::optional<long long> end_ms) const {
    write_file_atomically(
        at(run) / meta_file,
        fmt::format("artifact_uri: {}\ndeleted_time: null\nend_time: {}\nentry_point_name: ''\n"
                    "experiment_id: '{}'\nlifecycle_stage: active\nrun_id: '{}'\nrun_name: {}\n"
                    "run_uuid: '{}'\nsource_name: ''\nsource_type: {}\nsource_version: ''\n"
                    "start_time: {}\nstatus: {}\ntags: []\nuser_id: ''\n",
                    quoted(artifacts_of(run.id)), end_ms ? std::to_string(*end_ms) : "null", id_,
                    run.id, quoted(name), run.id, source_local, start_ms,
                    statuses.at(static_cast<std::size_t>(status))));
  }

  fs::path root_;
  std::string id_;
};

}  // namespace

std::unique_ptr<TrackingStore> open_directory(const fs::path& directory,
                                              const std::string& experiment) {
  return std::make_unique<FileStore>(directory, experiment);
}

}  // namespace bench::mlflow
