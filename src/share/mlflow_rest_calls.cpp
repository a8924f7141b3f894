#include "mlflow_rest_calls.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/json_depth.hpp>
#include <bench/base/text.hpp>
#include <bench/share/http_client.hpp>
#include <bench/share/mlflow.hpp>

namespace bench::mlflow {
namespace {

constexpr std::size_t most_metrics = 1000;
constexpr std::size_t most_params = 100;
constexpr std::size_t most_tags = 99;    // leaves room for one more
constexpr std::size_t most_items = 999;  // leaves room for the same tag
constexpr std::size_t most_bytes = 900'000;

/// Maximum size as JSON: a control character takes six bytes.
std::size_t bytes_of(const std::string& text) {
  std::size_t bytes = 0;
  for (const char c : text)
    bytes += static_cast<unsigned char>(c) < 0x20 ? 6 : c == '"' || c == '\\' ? 2 : 1;
  return bytes;
}

/// Fills batches up to the limits.
class Packer {
 public:
  void add_param(const std::pair<std::string, std::string>& one) {
    room(size_of(one), batches_.back().params.size() >= most_params).params.push_back(one);
  }
  void add_tag(const std::pair<std::string, std::string>& one) {
    room(size_of(one), batches_.back().tags.size() >= most_tags).tags.push_back(one);
  }
  void add_metric(const Metric& one) {
    constexpr std::size_t numbers = 130;  // a double, two integers, and all member names
    room(bytes_of(one.key) + numbers, batches_.back().metrics.size() >= most_metrics)
        .metrics.push_back(one);
  }
  std::vector<Batch> take() { return std::move(batches_); }

 private:
  static std::size_t size_of(const std::pair<std::string, std::string>& one) {
    constexpr std::size_t names = 30;
    return bytes_of(one.first) + bytes_of(one.second) + names;
  }

  Batch& room(std::size_t bytes, bool full) {
    const Batch& last = batches_.back();
    const std::size_t items = last.params.size() + last.tags.size() + last.metrics.size();
    if (full || items >= most_items || bytes_ + bytes > most_bytes) {
      batches_.emplace_back();
      bytes_ = 0;
    }
    bytes_ += bytes;
    return batches_.back();
  }

  std::vector<Batch> batches_{1};
  std::size_t bytes_ = 0;
};

/// A value as databases store it: infinity as the largest finite number, and all NaN as equal.
double stored(double value) {
  if (std::isinf(value))
    return std::copysign(std::numeric_limits<double>::max(), value);
  return value;
}

bool is_same(double one, double other) {
  return (std::isnan(one) && std::isnan(other)) || stored(one) == stored(other);
}

/// The newest value of each step.
using Steps = std::map<long long, Metric>;

Steps steps_of(const std::vector<Metric>& history) {
  Steps steps;
  for (const Metric& metric : history) {
    const auto [at, is_first] = steps.try_emplace(metric.step, metric);
    if (!is_first && at->second.timestamp_ms <= metric.timestamp_ms)
      at->second = metric;
  }
  return steps;
}

const std::string api = "/api/2.0/";

/// `runs/log-batch`: name of a call in messages.
std::string name_of(const HttpRequest& request) {
  const auto begin = request.path.find(api);
  const std::string path =
      begin == std::string::npos ? request.path : request.path.substr(begin + api.size());
  const std::string endpoint = path.substr(0, path.find('?'));
  return endpoint.starts_with("mlflow/") ? endpoint.substr(7) : endpoint;
}

bool may_pass(int status) {
  constexpr std::array codes{0, 408, 429, 500, 502, 503, 504};
  return std::ranges::find(codes, status) != codes.end();
}

/// The server's error in one line: MLflow's message, otherwise the beginning of the body.
std::string message_of(const HttpResponse& response) {
  constexpr std::size_t most = 300;
  const Json body = parsed(response.body);
  std::string text = body.is_object() ? text_in(body, "message") : "";
  if (text.empty())
    text = response.body;
  return cut(one_line(text), most);
}

std::string hint_of(const HttpResponse& response) {
  constexpr int unauthorized = 401;
  constexpr int forbidden = 403;
  constexpr int not_found = 404;
  if (response.status == unauthorized || response.status == forbidden)
    return "set MLFLOW_TRACKING_TOKEN, or MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD";
  if (!response.location.empty())
    return fmt::format("the server redirects to {}: use that address", response.location);
  if (response.status == not_found)
    return "check the address: it is that of the MLflow server, without /api or /#";
  return "";
}

/// Error code for the status 413, which a proxy in front of MLflow may return.
const std::string too_large = "CONTENT_TOO_LARGE";

/// Names typed by the user may be invalid UTF-8.
std::string text_of(const Json& body) {
  return body.dump(-1, ' ', false, Json::error_handler_t::replace);
}

constexpr const char* resume_hint =
    "data that was sent is kept; run the same command again to send the rest";

}  // namespace

std::string valid_key(std::string_view name) {
  std::string key;
  for (const char c : name)
    key +=
        std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '.' || c == ' ' ? c : '_';
  if (key.find_first_not_of(". ") == std::string::npos)
    key.insert(0, "_");
  return cut(key, longest_key);
}

std::string cut(const std::string& text, std::size_t most) {
  std::string valid = to_valid_utf8(text);
  if (valid.size() <= most)
    return valid;
  while (most > 0 && (static_cast<unsigned char>(valid[most]) & 0xC0) == 0x80)
    --most;
  valid.resize(most);
  return valid;
}

std::vector<Batch> batches_of(const Batch& batch) {
  Packer packer;
  for (const auto& param : batch.params)
    packer.add_param(param);
  for (const auto& tag : batch.tags)
    packer.add_tag(tag);
  for (const Metric& metric : batch.metrics)
    packer.add_metric(metric);
  return packer.take();
}

Batch missing(const Batch& batch, const StoredRun& run, const History& history) {
  Batch lacking;
  for (const auto& param : batch.params)
    if (!run.params.contains(param.first))
      lacking.params.push_back(param);
  for (const auto& tag : batch.tags)
    if (const auto found = run.tags.find(tag.first);
        found == run.tags.end() || found->second != tag.second)
      lacking.tags.push_back(tag);
  std::map<std::string, std::size_t> counts;
  for (const Metric& metric : batch.metrics)
    ++counts[metric.key];
  std::map<std::string, Steps> known;
  for (Metric metric : batch.metrics) {
    const auto latest = run.latest.find(metric.key);
    if (latest == run.latest.end()) {
      lacking.metrics.push_back(metric);
      continue;
    }
    if (counts[metric.key] == 1 && latest->second.step == metric.step &&
        is_same(metric.value, latest->second.value))
      continue;
    if (!known.contains(metric.key))
      known[metric.key] = steps_of(history(metric.key));
    const Steps& steps = known[metric.key];
    const auto found = steps.find(metric.step);
    if (found != steps.end() && is_same(metric.value, found->second.value))
      continue;
    if (found != steps.end())  // the value has changed, and MLflow shows the latest
      metric.timestamp_ms = std::max(metric.timestamp_ms, found->second.timestamp_ms + 1);
    lacking.metrics.push_back(metric);
  }
  return lacking;
}

Json parsed(const std::string& text) {
  return Json::parse(text, no_deeper_than_files_are, false);
}

std::string text_in(const Json& object, const char* member) {
  if (!object.is_object())
    return "";
  const auto found = object.find(member);
  if (found == object.end() || found->is_null())
    return "";
  return found->is_string() ? found->get<std::string>() : found->dump();
}

long long integer_in(const Json& object, const char* member) {
  return parse_integer(text_in(object, member)).value_or(0);
}

const Json& list_in(const Json& object, const char* member) {
  static const Json none = Json::array();
  if (!object.is_object())
    return none;
  const auto found = object.find(member);
  return found != object.end() && found->is_structured() ? *found : none;
}

std::string encoded(const std::string& text) {
  return percent_encoded(text, "/");
}

RestCalls::RestCalls(const ServerSettings& settings, Notify notify)
    : settings_(settings), notify_(std::move(notify)), client_(settings.http) {}

RestCalls::Answer RestCalls::get(const std::string& endpoint, const std::string& query,
                                 const std::string& accepted) {
  return call({.method = "GET",
               .path = fmt::format("{}{}mlflow/{}?{}", settings_.path, api, endpoint, query)},
              accepted);
}

RestCalls::Answer RestCalls::post(const std::string& endpoint, Json body, const Recheck& recheck,
                                  const std::string& accepted) {
  const auto recheck_body = [&](HttpRequest& request) {
    auto done = recheck(body);
    request.body = text_of(body);
    return done;
  };
  HttpRequest request{.method = "POST",
                      .path = fmt::format("{}{}mlflow/{}", settings_.path, api, endpoint),
                      .body = text_of(body),
                      .content_type = "application/json"};
  if (!recheck)
    return call(std::move(request), accepted);
  return call(std::move(request), accepted, recheck_body);
}

bool RestCalls::put(const std::string& path, const std::string& content) {
  return call({.method = "PUT",
               .path = settings_.path + api + path,
               .body = content,
               .content_type = "application/octet-stream"},
              too_large)
      .error_code.empty();
}

RestCalls::Answer RestCalls::call(HttpRequest request, const std::string& accepted,
                                  const std::function<std::optional<Json>(HttpRequest&)>& recheck) {
  constexpr int too_many_requests = 429;  // so the request was not executed
  for (int retries = 0;; ++retries) {
    const HttpResponse response = client_.send(request);
    if (response.is_endless)
      throw Error(
          Id::server_failed,
          fmt::format("{}: {} failed: {}", settings_.uri, name_of(request), response.failure),
          fault_of_server);
    if (!may_pass(response.status))
      return answer_of(request, response, accepted);
    if (retries >= settings_.most_retries)
      throw Error(
          Id::server_failed,
          fmt::format("{}: {} failed: {}", settings_.uri, name_of(request),
                      response.status == 0 ? response.failure
                                           : fmt::format("HTTP status {}: {}", response.status,
                                                         message_of(response))),
          resume_hint);
    wait_before_retry(request, response, retries);
    if (recheck && response.status != too_many_requests)
      if (auto done = recheck(request))
        return {.body = std::move(*done), .error_code = ""};
  }
}

void RestCalls::wait_before_retry(const HttpRequest& request, const HttpResponse& response,
                                  int retries) {
  constexpr double longest_s = 300;
  constexpr double most_doublings = 10;
  double wait_s = settings_.backoff_s;
  for (int k = 0; k < std::min<double>(retries, most_doublings); ++k)
    wait_s *= 2;
  if (const auto asked = parse_number(response.retry_after); asked && *asked >= 0)
    wait_s = *asked;
  wait_s = std::min(wait_s, longest_s);
  notify_(fmt::format(
      "{}: {}: {}; trying again in {:g} s", settings_.uri, name_of(request),
      response.status == 0 ? response.failure : fmt::format("HTTP status {}", response.status),
      wait_s));
  std::this_thread::sleep_for(std::chrono::duration<double>(wait_s));
}

RestCalls::Answer RestCalls::answer_of(const HttpRequest& request, const HttpResponse& response,
                                       const std::string& accepted) const {
  constexpr int ok = 200;
  constexpr int first_that_is_no_success = 300;
  const Json body = parsed(response.body);
  const bool success = response.status >= ok && response.status < first_that_is_no_success;
  if (success && (body.is_object() || request.method == "PUT"))
    return {.body = body, .error_code = "", .bytes = response.body.size()};
  if (success)
    throw Error(Id::server_failed,
                fmt::format("{}: the answer to {} is not JSON: {}", settings_.uri, name_of(request),
                            message_of(response)),
                "check the address: it is that of the MLflow server itself, not of a login page");
  constexpr int content_too_large = 413;
  const std::string code =
      response.status == content_too_large ? too_large : text_in(body, "error_code");
  if (!accepted.empty() && code == accepted)
    return {.body = body, .error_code = code};
  throw Error(
      Id::server_failed,
      fmt::format("{}: {} was refused: {}{} (HTTP status {})", settings_.uri, name_of(request),
                  code.empty() ? "" : code + ": ", message_of(response), response.status),
      hint_of(response));
}

}  // namespace bench::mlflow
