#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/core.h>
#ifdef BENCH_HTTP
#include <httplib.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#else
#include <bench/base/error.hpp>
#endif

#include <bench/share/http_client.hpp>

namespace bench::mlflow {

#ifdef BENCH_HTTP

namespace {

namespace fs = std::filesystem;

/// Longer than every answer of MLflow, whose lists come in pages.
constexpr std::uint64_t longest_answer = 32 << 20;

/// The bytes that a socket has received; 0 if the kernel does not tell.
std::uint64_t received_bytes(int socket) {
  // Those of linux/tcp.h that follow what the C library has.
  struct {
    tcp_info known;
    std::uint64_t pacing_rate, max_pacing_rate, bytes_acked, bytes_received;
  } info{};
  socklen_t size = sizeof info;
  return ::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 && size == sizeof info
             ? info.bytes_received
             : 0;
}

/// Ends an exchange that takes too long or brings too much, as long as this object lives. The
/// library limits neither: its timeout begins again with each byte, and it keeps every header.
class ExchangeLimits {
 public:
  /// @param socket of the connection, which may be made later; -1 until then
  ExchangeLimits(const std::atomic<int>& socket, double longest_s)
      : socket_(socket),
        seen_(socket),
        received_before_(received_bytes(socket)),
        end_(Clock::now() + std::chrono::milliseconds(static_cast<long long>(longest_s * 1000))),
        thread_([this] { watch(); }) {}
  ExchangeLimits(const ExchangeLimits&) = delete;
  ExchangeLimits& operator=(const ExchangeLimits&) = delete;
  ~ExchangeLimits() {
    {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
    }
    over_.notify_one();
    thread_.join();
  }

  bool is_late() const { return late_; }
  bool is_endless() const { return endless_; }

 private:
  using Clock = std::chrono::steady_clock;

  void watch() {
    constexpr std::chrono::milliseconds pause{50};
    std::unique_lock lock(mutex_);
    while (!over_.wait_for(lock, pause, [this] { return is_over_; })) {
      const int socket = socket_;
      if (socket != seen_)
        received_before_ = 0;
      seen_ = socket;
      endless_ = endless_ || received_bytes(socket) > received_before_ + longest_answer;
      late_ = late_ || Clock::now() > end_;
      if (endless_ || late_)
        ::shutdown(socket, SHUT_RDWR);
    }
  }

  const std::atomic<int>& socket_;
  int seen_;
  std::uint64_t received_before_;
  Clock::time_point end_;
  std::atomic<bool> late_ = false;
  std::atomic<bool> endless_ = false;
  std::mutex mutex_;
  std::condition_variable over_;
  bool is_over_ = false;
  std::thread thread_;  ///< Last, since it uses the others.
};

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
  std::atomic<int> socket = -1;
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
  client.set_socket_options([this](socket_t socket) { connection_->socket = socket; });
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
  std::string body;
  bool is_endless = false;
  sent.content_receiver = [&](const char* piece, std::size_t size, std::uint64_t, std::uint64_t) {
    is_endless = body.size() + size > longest_answer;
    if (!is_endless)
      body.append(piece, size);
    return !is_endless;
  };
  constexpr double slowest_bytes_per_s = 64 << 10;
  const double longest_s =
      2 * connection_->timeout_s + static_cast<double>(request.body.size()) / slowest_bytes_per_s;
  const ExchangeLimits limits(connection_->socket, longest_s);
  const httplib::Result result = connection_->client.send(sent);
  if (is_endless || limits.is_endless())
    return {.failure = fmt::format("the answer has more than {} MiB", longest_answer >> 20),
            .is_endless = true};
  // The end of the connection may be taken for that of the answer.
  if (limits.is_late())
    return {.failure = fmt::format("the answer was not complete within {:.3g} s", longest_s)};
  if (!result)
    return {.failure = reason_of(result.error(), connection_->timeout_s)};
  return {.status = result->status,
          .body = std::move(body),
          .retry_after = result->get_header_value("Retry-After"),
          .location = result->get_header_value("Location")};
}

#else

struct HttpClient::Connection {};

HttpClient::HttpClient(const HttpServer& server) {
  throw Error(
      Id::unsupported,
      fmt::format("cannot connect to {}: this bench was built without cpp-httplib", server.origin),
      "write a directory with --directory, or build bench with libcpp-httplib-dev");
}

HttpClient::~HttpClient() = default;

HttpResponse HttpClient::send(const HttpRequest&) {
  return {};
}

#endif

}  // namespace bench::mlflow
