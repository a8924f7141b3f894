#pragma once

#include <functional>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include <bench/mlflow/http_client.hpp>
#include <bench/mlflow/settings.hpp>
#include <bench/mlflow/tracking_store.hpp>

namespace bench::mlflow {

using Json = nlohmann::json;

/// The body of an answer; `discarded` where it is not JSON.
Json parsed(const std::string& text);
/// A text or a number of an answer; empty where the member is absent.
std::string text_in(const Json& object, const char* member);
/// An integer, which some servers write as a text; 0 where it is absent.
long long integer_in(const Json& object, const char* member);
/// An array or object; an empty one where it is absent.
const Json& list_in(const Json& object, const char* member);

/// Calls of MLflow's REST API, version 2.0. One that fails for a reason that may pass is repeated
/// after a wait, or after what the server asks for: no answer, 408, 429, 500, 502, 503, 504.
class RestCalls {
 public:
  RestCalls(const ServerSettings& settings, Notify notify);

  /// The answer, if a request whose answer was lost was carried out nevertheless. Takes out of the
  /// request what was.
  using Recheck = std::function<std::optional<Json>(Json& request)>;

  struct Answer {
    Json body;
    std::string error_code;  ///< `RESOURCE_DOES_NOT_EXIST`; empty: success.
  };

  /// @param query without its `?`, encoded
  /// @param accepted an error code that is an answer, too
  /// @throws Error for every other refusal, after the last retry, and if the answer is not JSON
  Answer get(const std::string& endpoint, const std::string& query,
             const std::string& accepted = "");
  /// @param recheck asked before a request is repeated that the server may have carried out
  Answer post(const std::string& endpoint, Json body, const Recheck& recheck = nullptr,
              const std::string& accepted = "");
  /// Puts the bytes of a file, in the place of an older one.
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

/// A text in a query or path of a URI: `%20` for a blank.
std::string encoded(const std::string& text);

}  // namespace bench::mlflow
