#pragma once

#include <memory>
#include <string>

namespace bench::mlflow {

/// Address, credentials and proxy of a server.
struct HttpServer {
  std::string origin;  ///< `https://host:port`.
  std::string user;    ///< Empty: no user and password.
  std::string password;
  std::string token;  ///< Sent as a bearer token unless there is a user; empty: none.
  double timeout_s = 120;
  bool verify_certificate = true;
  std::string certificate_file;  ///< Trusted certificates, PEM; empty: the system's.
  std::string proxy_host;        ///< Empty: none.
  int proxy_port = 0;
};

struct HttpRequest {
  std::string method;
  std::string path;  ///< With its query.
  std::string body = {};
  std::string content_type = {};
};

struct HttpResponse {
  int status = 0;  ///< 0: no response.
  std::string body = {};
  std::string retry_after = {};  ///< This header and the next one; empty if absent.
  std::string location = {};
  std::string failure = {};  ///< Why there was no response.
  bool is_endless = false;   ///< It was longer than any answer of MLflow, and was given up.
};

/// A connection to one server, kept open between requests. Does not follow redirects, which could
/// leak the password to another host.
class HttpClient {
 public:
  /// Sends nothing yet.
  /// @throws Error if bench was built without an HTTP library
  explicit HttpClient(const HttpServer& server);
  ~HttpClient();

  /// Sends a request and waits for the response, for a limited time and up to a limited length.
  HttpResponse send(const HttpRequest& request);

 private:
  struct Connection;
  std::unique_ptr<Connection> connection_;
};

}  // namespace bench::mlflow
