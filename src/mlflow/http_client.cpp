#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include <fmt/core.h>
#ifdef BENCH_HTTP
#include <httplib.h>
#else
#include <bench/base/error.hpp>
#endif

#include <bench/mlflow/http_client.hpp>

namespace bench::mlflow {

#ifdef BENCH_HTTP

namespace {

namespace fs = std::filesystem;

/// OpenSSL looks for certificates where its build system has them. These are the places on Debian,
/// Red Hat and SUSE for a program that was built elsewhere.
std::string certificates_of_system() {
  std::error_code absent;
  if (std::getenv(X509_get_default_cert_file_env()) ||
      fs::exists(X509_get_default_cert_file(), absent))
    return "";
  constexpr std::array files{"/etc/ssl/certs/ca-certificates.crt",
                             "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem"};
  for (const char* file : files)
    if (fs::exists(file, absent))
      return file;
  return "";
}

std::string reason_of(httplib::Error error, double timeout_s) {
  switch (error) {
    case httplib::Error::Connection:
      return "cannot connect";
    case httplib::Error::ConnectionTimeout:
      return "cannot connect: timeout";
    case httplib::Error::Read:
      return fmt::format("the connection was closed, or no answer came within {} s", timeout_s);
    case httplib::Error::Write:
      return "the connection was closed";
    case httplib::Error::SSLServerVerification:
      return "the certificate of the server is not trusted";
    case httplib::Error::SSLLoadingCerts:
      return "cannot read the certificates to trust";
    default:
      return httplib::to_string(error);
  }
}

}  // namespace

struct HttpClient::Connection {
  Connection(const std::string& origin, double timeout) : client(origin), timeout_s(timeout) {}
  httplib::Client client;
  double timeout_s;
};

HttpClient::HttpClient(const HttpServer& server)
    : connection_(std::make_unique<Connection>(server.origin, server.timeout_s)) {
  httplib::Client& client = connection_->client;
  const auto timeout = std::chrono::milliseconds(static_cast<long long>(server.timeout_s * 1000));
  client.set_connection_timeout(timeout);
  client.set_read_timeout(timeout);
  client.set_write_timeout(timeout);
  client.set_keep_alive(true);
  client.set_tcp_nodelay(true);
  if (!server.user.empty())
    client.set_basic_auth(server.user, server.password);
  else if (!server.token.empty())
    client.set_bearer_token_auth(server.token);
  if (!server.proxy_host.empty())
    client.set_proxy(server.proxy_host, server.proxy_port);
  client.enable_server_certificate_verification(server.verify_certificate);
  const std::string certificates =
      server.certificate_file.empty() ? certificates_of_system() : server.certificate_file;
  if (!certificates.empty())
    client.set_ca_cert_path(certificates);
}

HttpClient::~HttpClient() = default;

HttpResponse HttpClient::send(const HttpRequest& request) {
  httplib::Request sent;
  sent.method = request.method;
  sent.path = request.path;
  sent.body = request.body;
  if (!request.content_type.empty())
    sent.set_header("Content-Type", request.content_type);
  const httplib::Result result = connection_->client.send(sent);
  if (!result)
    return {.failure = reason_of(result.error(), connection_->timeout_s)};
  return {.status = result->status,
          .body = result->body,
          .retry_after = result->get_header_value("Retry-After"),
          .location = result->get_header_value("Location")};
}

#else

struct HttpClient::Connection {};

HttpClient::HttpClient(const HttpServer& server) {
  throw Error(
      fmt::format("cannot connect to {}: this bench was built without cpp-httplib", server.origin),
      "write a directory with --directory, or build bench with libcpp-httplib-dev");
}

HttpClient::~HttpClient() = default;

HttpResponse HttpClient::send(const HttpRequest&) {
  return {};
}

#endif

}  // namespace bench::mlflow
