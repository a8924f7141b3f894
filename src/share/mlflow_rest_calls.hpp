#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include <bench/share/http_client.hpp>
#include <bench/share/mlflow.hpp>

namespace bench::mlflow {

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
