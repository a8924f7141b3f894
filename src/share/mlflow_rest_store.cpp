#include "mlflow_rest_calls.hpp"

#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/share/mlflow.hpp>

namespace bench::mlflow {
namespace {

constexpr const char* not_there = "RESOURCE_DOES_NOT_EXIST";
constexpr const char* proxied = "mlflow-artifacts:/";

/// JSON has no such numbers; this is MLflow's notation.
Json number_of(double value) {
  if (std::isnan(value))
    return "NaN";
  if (std::isinf(value))
    return value > 0 ? "Infinity" : "-Infinity";
  return value;
}

double number_in(const Json& metric) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  const std::string text = text_in(metric, "value");
  if (text.ends_with("Infinity"))
    return (text.front() == '-' ? -1 : 1) * std::numeric_limits<double>::infinity();
  return parse_number(text).value_or(none);
}

/// Quotes a text for a filter. The UUID of a JUBE run contains its path.
std::string filter_text(const std::string& text) {
  const char quote = text.find('\'') == std::string::npos ? '\'' : '"';
  return quote + text + quote;
}

Json pairs(const Pairs& all) {
  Json list = Json::array();
  for (const auto& [key, value] : all)
    list.push_back({{"key", key}, {"value", value}});
  return list;
}

std::map<std::string, std::string> pairs_in(const Json& list) {
  std::map<std::string, std::string> all;
  for (const Json& one : list)
    all[text_in(one, "key")] = text_in(one, "value");
  return all;
}

Metric metric_in(const Json& one) {
  return {.key = text_in(one, "key"),
          .value = number_in(one),
          .timestamp_ms = integer_in(one, "timestamp"),
          .step = integer_in(one, "step")};
}

StoredRun run_in(const Json& run) {
  const Json& info = list_in(run, "info");
  const Json& data = list_in(run, "data");
  StoredRun stored{.id = text_in(info, "run_id"),
                   .artifact_uri = text_in(info, "artifact_uri"),
                   .params = pairs_in(list_in(data, "params")),
                   .tags = pairs_in(list_in(data, "tags"))};
  for (const Json& one : list_in(data, "metrics")) {
    Metric metric = metric_in(one);
    stored.latest[metric.key] = metric;
  }
  return stored;
}

Json batch_json(const StoredRun& run, const Batch& batch) {
  Json metrics = Json::array();
  for (const Metric& metric : batch.metrics)
    metrics.push_back({{"key", metric.key},
                       {"value", number_of(metric.value)},
                       {"timestamp", metric.timestamp_ms},
                       {"step", metric.step}});
  return {{"run_id", run.id},
          {"params", pairs(batch.params)},
          {"tags", pairs(batch.tags)},
          {"metrics", std::move(metrics)}};
}

const char* word_of(Status status) {
  constexpr std::array words{"RUNNING", "FINISHED", "FAILED", "KILLED"};
  return words[static_cast<std::size_t>(status)];
}

/// Follows the pages of a list. A server that returns a token twice would never end, nor would one
/// that always has another page.
class Pages {
 public:
  Pages(const std::string& uri, const char* call) : uri_(uri), call_(call) {}

  /// @param items on the page
  /// @returns the token of the next page; empty after the last one
  /// @throws Error for a token that was there before, and for a list that is too long
  std::string next(const RestCalls::Answer& page, std::size_t items) {
    constexpr std::size_t most_pages = 10'000;
    constexpr int most_empty_pages = 100;
    constexpr std::size_t longest_list = std::size_t{512} << 20;
    constexpr std::chrono::hours longest{1};
    std::string token = text_in(page.body, "next_page_token");
    if (!token.empty() && !known_.insert(token).second)
      refuse(fmt::format("the page token '{}' twice", token));
    empty_pages_ = items == 0 ? empty_pages_ + 1 : 0;
    if (empty_pages_ > most_empty_pages)
      refuse(fmt::format("more than {} empty pages in a row", most_empty_pages));
    if (known_.size() >= most_pages)
      refuse(fmt::format("more than {} pages", most_pages));
    if ((bytes_ += page.bytes) > longest_list)
      refuse(fmt::format("more than {} MiB", longest_list >> 20));
    if (Clock::now() - begin_ > longest)
      refuse("pages for more than an hour");
    return token;
  }

 private:
  using Clock = std::chrono::steady_clock;

  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(Id::server_failed, fmt::format("{}: {} returned {}", uri_, call_, what),
                fault_of_server);
  }

  const std::string& uri_;
  const char* call_;
  Clock::time_point begin_ = Clock::now();
  std::size_t bytes_ = 0;
  int empty_pages_ = 0;
  std::set<std::string> known_;
};

class RestStore : public TrackingStore {
 public:
  RestStore(const ServerSettings& settings, const std::string& experiment, Notify notify)
      : uri_(settings.uri), calls_(settings, std::move(notify)) {
    experiment_id_ = known_experiment(experiment);
    if (experiment_id_.empty())
      experiment_id_ = new_experiment(experiment);
  }

  const std::string& experiment_id() const override { return experiment_id_; }

  std::vector<StoredRun> find(const Pairs& tags) override {
    constexpr int runs_per_page = 100;  // of which a response can have all values
    std::vector<std::string> conditions;
    for (const auto& [key, value] : tags)
      conditions.push_back(fmt::format("tags.`{}` = {}", key, filter_text(value)));
    Json request{{"experiment_ids", {experiment_id_}},
                 {"filter", join(conditions, " AND ")},
                 {"run_view_type", "ACTIVE_ONLY"},
                 {"max_results", runs_per_page}};
    std::vector<StoredRun> runs;
    Pages pages(uri_, "runs/search");
    for (;;) {
      const RestCalls::Answer page = calls_.post("runs/search", request);
      const Json& found = list_in(page.body, "runs");
      for (const Json& run : found)
        runs.push_back(run_in(run));
      const std::string next = pages.next(page, found.size());
      if (next.empty())
        return runs;
      request["page_token"] = next;
    }
  }

  StoredRun read(const StoredRun& run) override {
    return checked(calls_.get("runs/get", "run_id=" + encoded(run.id)).body, "runs/get");
  }

  StoredRun create(const NewRun& run) override {
    const Json request{{"experiment_id", experiment_id_},
                       {"run_name", run.name},
                       {"start_time", run.start_ms},
                       {"tags", pairs(run.tags)}};
    std::optional<StoredRun> found;
    const auto recheck = [&](Json&) -> std::optional<Json> {
      if (const auto runs = find(identity_of(run.tags)); !runs.empty())
        found = runs.front();
      return found ? std::optional(Json::object()) : std::nullopt;
    };
    const Json body = calls_.post("runs/create", request, recheck).body;
    return found ? *found : checked(body, "runs/create");
  }

  std::vector<Metric> history(const StoredRun& run, const std::string& key) override {
    std::vector<Metric> metrics;
    Pages pages(uri_, "metrics/get-history");
    std::string token;
    do {
      const RestCalls::Answer page = calls_.get(
          "metrics/get-history",
          fmt::format("run_id={}&metric_key={}&max_results=10000{}", encoded(run.id), encoded(key),
                      token.empty() ? "" : "&page_token=" + encoded(token)));
      const Json& found = list_in(page.body, "metrics");
      for (const Json& one : found)
        metrics.push_back(metric_in(one));
      token = pages.next(page, found.size());
    } while (!token.empty());
    return metrics;
  }

  void log(const StoredRun& run, const Batch& batch) override {
    calls_.post(
        "runs/log-batch", batch_json(run, batch), [&](Json& request) -> std::optional<Json> {
          const Batch left =
              missing(batch, read(run), [&](const std::string& key) { return history(run, key); });
          request = batch_json(run, left);
          return left.empty() ? std::optional(Json::object()) : std::nullopt;
        });
  }

  void set_status(const StoredRun& run, Status status, std::optional<long long> end_ms) override {
    Json request{{"run_id", run.id}, {"status", word_of(status)}};
    if (end_ms)
      request["end_time"] = *end_ms;
    calls_.post("runs/update", request);
  }

  bool takes_artifacts(const StoredRun& run) const override {
    return run.artifact_uri.starts_with(proxied) &&
           !run.artifact_uri.starts_with("mlflow-artifacts://");
  }

  bool put_artifact(const StoredRun& run, const std::string& name,
                    const std::string& content) override {
    const std::string folder = run.artifact_uri.substr(std::string(proxied).size());
    return calls_.put(
        fmt::format("mlflow-artifacts/artifacts/{}/{}", encoded(folder), encoded(name)), content);
  }

 private:
  std::string known_experiment(const std::string& name) {
    const auto answer =
        calls_.get("experiments/get-by-name", "experiment_name=" + encoded(name), not_there);
    if (!answer.error_code.empty())
      return "";
    const Json& experiment = list_in(answer.body, "experiment");
    if (text_in(experiment, "lifecycle_stage") == "deleted")
      throw Error(Id::server_failed, fmt::format("{}: experiment '{}' was deleted", uri_, name),
                  "restore it in MLflow, or select another name with --experiment");
    return id_in(experiment, "experiments/get-by-name");
  }

  std::string new_experiment(const std::string& name) {
    const auto recheck = [&](Json&) -> std::optional<Json> {
      const std::string id = known_experiment(name);
      return id.empty() ? std::nullopt : std::optional(Json{{"experiment_id", id}});
    };
    // Another client may have created it meanwhile.
    const auto answer =
        calls_.post("experiments/create", {{"name", name}}, recheck, "RESOURCE_ALREADY_EXISTS");
    return answer.error_code.empty() ? id_in(answer.body, "experiments/create")
                                     : known_experiment(name);
  }

  std::string id_in(const Json& body, const char* call) const {
    std::string id = text_in(body, "experiment_id");
    if (id.empty())
      throw unexpected(call);
    return id;
  }

  StoredRun checked(const Json& body, const char* call) const {
    StoredRun run = run_in(list_in(body, "run"));
    if (run.id.empty())
      throw unexpected(call);
    return run;
  }

  Error unexpected(const char* call) const {
    return Error(Id::server_failed, fmt::format("{}: the answer to {} lacks an id", uri_, call),
                 "check that it is the address of an MLflow server");
  }

  /// The tags that identify a run.
  static Pairs identity_of(const Pairs& tags) {
    Pairs identity;
    for (const auto& tag : tags)
      if (tag.first == run_tag || tag.first == workpackage_tag || tag.first == attempt_tag)
        identity.push_back(tag);
    return identity;
  }

  std::string uri_;
  RestCalls calls_;
  std::string experiment_id_;
};

}  // namespace

std::unique_ptr<TrackingStore> open_server(const ServerSettings& settings,
                                           const std::string& experiment, Notify notify) {
  return std::make_unique<RestStore>(settings, experiment, std::move(notify));
}

}  // namespace bench::mlflow
