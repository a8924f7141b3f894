#pragma once

#include <memory>
#include <string>

namespace bench::mlflow {

/// Whom to talk to, and how.
struct HttpServer {
  std::string origin;  ///< `https://host:port`.
  std::string user;    ///< Empty: no user and password.
  std::string password;
  std::string token;  ///< Sent as a bearer token unless there is a user; empty: none.
  double timeout_s = 120;
  bool verify_certificate = true;
  std::string certificate_file;  ///< Of those to trust, PEM; empty: the system's.
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
  int status = 0;  ///< 0: there was no answer.
  std::string body = {};
  std::string retry_after = {};  ///< These two headers; empty: not there.
  std::string location = {};
  std::string failure = {};  ///< Why there was no answer.
};

/// A connection to one server, kept open between requests. Follows no redirection, which could
/// carry the password to another host.
class HttpClient {
 public:
  /// Sends nothing yet.
  /// @throws Error if bench was built without a library for it
  explicit HttpClient(const HttpServer& server);
  ~HttpClient();

  /// Waits for the answer.
  HttpResponse send(const HttpRequest& request);

 private:
  struct Connection;
  std::unique_ptr<Connection> connection_;
};

}  // namespace bench::mlflow
