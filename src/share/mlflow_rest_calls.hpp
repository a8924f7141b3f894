#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <bench/share/http_client.hpp>
#include <bench/share/mlflow.hpp>

namespace bench::mlflow {

// The limits of MLflow's servers for lengths in characters; bench counts bytes, which are at least
// as many. Source: https://mlflow.org/docs/latest/api_reference/rest-api.html#log-batch
inline constexpr std::size_t longest_key = 250;
inline constexpr std::size_t longest_param = 6000;
inline constexpr std::size_t longest_tag = 5000;

/// Prefix of the tag that holds the reason of a missing value.
inline constexpr const char* absent_tag = "bench.absent.";

/// A name as a key of MLflow: every other character than ASCII letters, digits, `_`, `-`, `.` and
/// blanks becomes `_`, since some stores name files by keys.
std::string valid_key(std::string_view name);

/// Truncates a text to whole characters and at most `most` bytes; valid UTF-8.
std::string cut(const std::string& text, std::size_t most);

/// Splits a batch by the server's limits: 1,000 metrics, 100 parameters, 100 tags, 1,000 in all, 1
/// MB of JSON. Parameters and tags come first. The last batch has room for one more tag. At least
/// one batch, which may be empty.
std::vector<Batch> batches_of(const Batch& batch);

using History = std::function<std::vector<Metric>(const std::string& key)>;

/// The part of a batch that a run lacks: tags with a different value, missing parameters, and
/// metrics with a missing or different value at a step. A replacement gets a later time. Parameters
/// of a run cannot be changed. @param history queried if the latest value is not enough
Batch missing(const Batch& batch, const StoredRun& run, const History& history);

using Json = nlohmann::json;

/// Hint for a response that no MLflow gives.
inline constexpr const char* fault_of_server =
    "this is an error of the server, or of a proxy in front of it";

/// Parses the body of a response; `discarded` if it is not JSON.
Json parsed(const std::string& text);
/// A text or a number of a response; empty if the member is absent.
std::string text_in(const Json& object, const char* member);
/// An integer, which some servers write as a string; 0 if it is absent.
long long integer_in(const Json& object, const char* member);
/// An array or object; an empty one if it is absent.
const Json& list_in(const Json& object, const char* member);

/// Calls MLflow's REST API, version 2.0. Transient failures are retried with a backoff, or after
/// the server's Retry-After: no response, 408, 429, 500, 502, 503, 504.
class RestCalls {
 public:
  RestCalls(const ServerSettings& settings, Notify notify);

  /// Returns the response if a request was executed although its response was lost. Removes the
  /// executed part from the request.
  using Recheck = std::function<std::optional<Json>(Json& request)>;

  struct Answer {
    Json body;
    std::string error_code;  ///< `RESOURCE_DOES_NOT_EXIST`; empty: success.
    std::size_t bytes = 0;   ///< Length of the response.
  };

  /// @param query without its `?`, encoded
  /// @param accepted an error code that counts as a valid response
  /// @throws Error for any other error code, after the last retry, and if the response is not JSON
  Answer get(const std::string& endpoint, const std::string& query,
             const std::string& accepted = "");
  /// @param recheck called before retrying a request that the server may have executed
  Answer post(const std::string& endpoint, Json body, const Recheck& recheck = nullptr,
              const std::string& accepted = "");
  /// Uploads the bytes of a file, replacing an older one.
  /// @param path below `/api/2.0/`, encoded
  /// @returns false if it is too large for the server
  bool put(const std::string& path, const std::string& content);

 private:
  Answer call(HttpRequest request, const std::string& accepted,
              const std::function<std::optional<Json>(HttpRequest&)>& recheck = nullptr);
  Answer answer_of(const HttpRequest& request, const HttpResponse& response,
                   const std::string& accepted) const;
  void wait_before_retry(const HttpRequest& request, const HttpResponse& response, int retries);

  ServerSettings settings_;
  Notify notify_;
  HttpClient client_;
};

/// Percent-encodes a text for a query or path: `%20` for a blank.
std::string encoded(const std::string& text);

}  // namespace bench::mlflow
