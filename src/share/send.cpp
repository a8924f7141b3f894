#include "limits.hpp"

#include <cstddef>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/hash.hpp>
#include <bench/base/text.hpp>
#include <bench/share/run_content.hpp>
#include <bench/share/secrets.hpp>
#include <bench/share/send.hpp>
#include <bench/share/tracking_store.hpp>

namespace bench::mlflow {
namespace {

namespace fs = std::filesystem;

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

Sent send(const RunContent& content, TrackingStore& store, const Progressed& progressed) {
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
