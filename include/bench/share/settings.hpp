#pragma once

#include <string>

#include <bench/share/http_client.hpp>

namespace bench::mlflow {

/// How to reach a tracking server.
struct ServerSettings {
  HttpServer http;
  std::string path;      ///< In front of `/api`: empty, or `/mlflow` behind a proxy.
  std::string uri;       ///< For messages: without user and password.
  int most_retries = 5;  ///< Of one request.
  double backoff_s = 1;  ///< Before the first retry; doubled for each further one.
};

/// The settings for the server at `uri`, from the environment variables that MLflow's own clients
/// read: `MLFLOW_TRACKING_USERNAME` and `_PASSWORD`, `_TOKEN`, `_INSECURE_TLS`,
/// `_SERVER_CERT_PATH`, `MLFLOW_HTTP_REQUEST_TIMEOUT` (seconds), `_MAX_RETRIES`, `_BACKOFF_FACTOR`
/// (seconds), and `http_proxy`, `https_proxy`, `no_proxy`.
/// @throws Error if the URI does not name a server, or a numeric variable is invalid
ServerSettings settings_of(const std::string& uri);

}  // namespace bench::mlflow
