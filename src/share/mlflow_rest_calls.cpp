#include "mlflow_rest_calls.hpp"

#include "mlflow_limits.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/json_depth.hpp>
#include <bench/base/text.hpp>
#include <bench/share/http_client.hpp>
#include <bench/share/mlflow.hpp>

namespace bench::mlflow {
namespace {

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
