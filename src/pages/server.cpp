#include <bench/base/error.hpp>
#include <bench/pages/server.hpp>

#ifdef BENCH_HTTP

#include "connections.hpp"
#include "stream.hpp"
#include "visitor.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <exception>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <fmt/core.h>
#include <httplib.h>
#include <malloc.h>
#include <sys/socket.h>
#include <unistd.h>

#include <bench/base/text.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/pages/site.hpp>

namespace bench::serve {
namespace {

constexpr const char* loopback = "127.0.0.1";
constexpr const char* cookie_name = "bench_serve";
constexpr std::size_t threads = 8;
/// Concurrent downloads, which slow readers can hold for long: half of the threads stay free for
/// pages.
constexpr int most_downloads = 4;
/// Queued requests; no regular visitor sends as many.
constexpr int most_requests = 256;

/// The library runs a task for each accepted connection. Ours only hands the connection over, so it
/// needs no thread.
class AtOnce : public httplib::TaskQueue {
 public:
  void enqueue(std::function<void()> task) override { task(); }
  void shutdown() override {}
};

constexpr const char* policy_header = "Content-Security-Policy";
constexpr const char* policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src "
    "'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const httplib::Headers security_headers{{"X-Content-Type-Options", "nosniff"},
                                        {"X-Frame-Options", "DENY"},
                                        {"Referrer-Policy", "no-referrer"},
                                        {"Cross-Origin-Resource-Policy", "same-origin"},
                                        {"Cross-Origin-Opener-Policy", "same-origin"},
                                        {"Cache-Control", "no-store"}};

/// For a document with its own policy, which allows its scripts: the sandbox gives it an opaque
/// origin, from which it cannot request anything from this server.
constexpr const char* policy_of_documents =
    "sandbox allow-scripts allow-downloads allow-modals; connect-src 'none'; form-action 'none'; "
    "base-uri 'none'; frame-ancestors 'none'";

void refuse(httplib::Response& response, int status, const std::string& text) {
  response.status = status;
  response.set_content(text + "\n", "text/plain; charset=utf-8");
}

/// Whether a request may have a body, which is never read.
bool has_body(const std::string& head) {
  const std::string text = to_lower(head);
  return !(text.starts_with("get ") || text.starts_with("head ")) ||
         text.find("\ncontent-length:") != std::string::npos ||
         text.find("\ntransfer-encoding:") != std::string::npos;
}

/// Asks for the whole file in place of a part, as a server may answer (RFC 9110, 14.2): the library
/// announces more than it sends where a part reaches beyond the end.
std::string without_ranges(std::string head) {
  constexpr std::string_view header = "\nrange:";
  std::size_t begin = 0;
  while ((begin = to_lower(head).find(header, begin)) != std::string::npos)
    head.erase(begin + 1, head.find('\n', begin + 1) - begin);
  return head;
}

/// Drains what has arrived of a body: closing a socket with unread data would discard the answer.
void end_politely(const UniqueFd& socket) {
  ::shutdown(socket.get(), SHUT_WR);
  std::string dropped(1 << 16, '\0');
  while (::recv(socket.get(), dropped.data(), dropped.size(), MSG_DONTWAIT) > 0) {
  }
}

/// Gives back what pages have left: that of a run with 100,000 workpackages takes hundreds of MB.
void return_memory() {
  constexpr std::size_t usual = 128 << 20;
  std::size_t pages = 0;
  std::size_t resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  if (resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) > usual)
    ::malloc_trim(0);
}

/// A file name with only the characters that a header may contain.
std::string header_name(std::string name) {
  for (char& c : name)
    if (std::string_view("\"\\;%").find(c) != std::string_view::npos || c < ' ' || c > '~')
      c = '_';
  return name;
}

}  // namespace

/// The library's server, with requests read by `Connections`.
struct Server::Parts : private httplib::Server {
  Parts(const Site& served, int wanted_port) : site(served) {
    new_task_queue = [] { return new AtOnce; };
    // Without SO_REUSEPORT, which the library sets: a port that is taken is an error.
    set_socket_options([](socket_t socket) {
      const int yes = 1;
      ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    set_default_headers(security_headers);
    set_payload_max_length(0);
    set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      answer(request, response);
      return HandlerResponse::Handled;
    });
    set_post_routing_handler([](const httplib::Request&, httplib::Response& response) {
      if (!response.has_header(policy_header))
        response.set_header(policy_header, policy);
    });
    set_exception_handler(
        [](const httplib::Request&, httplib::Response& response, const std::exception_ptr&) {
          refuse(response, 500, "this is a bug in bench; please report it");
        });
    if (wanted_port == 0)
      port = bind_to_any_port(loopback);
    else if (bind_to_port(loopback, wanted_port))
      port = wanted_port;
    if (port < 0)
      throw Error::of_system(fmt::format("cannot listen on port {} of {}", wanted_port, loopback),
                             errno, "choose another port, or omit --port to use any free one");
    // The library uses 5, which the files of one page may exceed.
    constexpr int most_unaccepted = 128;
    ::listen(svr_sock_, most_unaccepted);
  }

  ~Parts() override = default;

  void run_until(const std::atomic<bool>& stop) {
    // Each thread would keep a heap of its own, as large as the largest page that it has made.
    ::mallopt(M_ARENA_MAX, 1);
    httplib::ThreadPool workers(threads);
    {
      Connections connections([&](RequestHead head) {
        if (requests >= most_requests)
          return;  // which closes the connection
        ++requests;
        // A std::function is copyable.
        const auto shared = std::make_shared<RequestHead>(std::move(head));
        workers.enqueue([this, shared] {
          serve(std::move(*shared));
          --requests;
        });
      });
      waiting = &connections;
      std::atomic<bool> has_ended{false};
      std::thread accepting([&] {
        listen_after_bind();
        has_ended = true;
      });
      constexpr std::chrono::milliseconds pause{100};
      while (!has_ended && !(stop && is_running()))  // stop() has no effect before it runs
        std::this_thread::sleep_for(pause);
      ending = true;
      httplib::Server::stop();
      accepting.join();
      workers.shutdown();
    }
    waiting = nullptr;
    if (!stop)
      throw Error("the server stopped accepting connections", "restart bench serve");
  }

  std::string address() const {
    return fmt::format("http://{}:{}/{}/?token={}", loopback, port, place, token);
  }

 private:
  /// Runs on the accepting thread.
  bool process_and_close_socket(socket_t socket) override {
    waiting->add(UniqueFd(socket));
    return true;
  }

  void serve(RequestHead head) {
    const bool may_have_body = has_body(head.text);
    HeadStream stream(head.socket, without_ranges(std::move(head.text)), ending);
    bool closed = false;
    const bool is_served = process_request(stream, may_have_body, closed, nullptr);
    return_memory();
    if (may_have_body)
      end_politely(head.socket);
    else if (is_served && !closed && !stream.has_failed() && !ending)
      waiting->add(std::move(head.socket));
  }

  void answer(const httplib::Request& request, httplib::Response& response) {
    const std::string site_path = "/" + place + "/";
    const auto is_allowed = [&](const std::string& given) { return is_same_secret(given, token); };
    if (request.has_header("Content-Length") || request.has_header("Transfer-Encoding") ||
        (request.method != "GET" && request.method != "HEAD")) {
      response.set_header("Allow", "GET, HEAD");
      refuse(response, 405,
             "bench serve is read-only: it accepts GET and HEAD requests without a body");
    } else if (!is_loopback_name(request.get_header_value("Host")))
      refuse(response, 403, "the host name in the address must be 127.0.0.1 or localhost");
    else if (request.path == site_path && is_allowed(request.get_param_value("token"))) {
      response.set_header("Set-Cookie", fmt::format("{}={}; Path={}; HttpOnly; SameSite=Strict",
                                                    cookie_name, token, site_path));
      response.set_redirect(site_path, 303);
    } else if (!request.path.starts_with(site_path) ||
               !is_allowed(cookie_of(request.get_header_value("Cookie"), cookie_name)))
      refuse(response, 403, "open the address that bench serve printed, including its token");
    else
      show(request, request.path.substr(site_path.size()), response);
  }

  void show(const httplib::Request& request, std::string path, httplib::Response& response) {
    PageRequest page_request{.path = std::move(path), .parameters = {}};
    for (const auto& [name, value] : request.params)
      page_request.parameters.emplace(name, value);
    const PageResponse answer = site.answer(page_request);
    response.status = answer.status;
    if (answer.is_document)
      response.set_header(policy_header, policy_of_documents);
    if (answer.download && answer.download->bytes > 0)
      download(answer, response);
    else
      response.set_content(answer.content, answer.type);
  }

  void download(const PageResponse& answer, httplib::Response& response) {
    if (++downloads > most_downloads) {
      --downloads;
      response.set_header("Retry-After", "5");
      refuse(response, 503, "too many downloads at once");
      return;
    }
    const auto file = answer.download;
    response.set_header("Accept-Ranges", "none");
    response.set_header("Content-Disposition",
                        fmt::format("attachment; filename=\"{}\"", header_name(file->name)));
    response.set_content_provider(
        file->bytes, answer.type,
        [file](std::size_t offset, std::size_t length, httplib::DataSink& sink) {
          return send_piece(*file, offset, length, sink);
        },
        [this](bool) { --downloads; });
  }

  /// @returns false if the file was truncated or the client disconnected
  static bool send_piece(const Download& file, std::size_t offset, std::size_t length,
                         httplib::DataSink& sink) {
    std::string piece(std::min<std::size_t>(length, 1 << 16), '\0');
    const ssize_t got =
        ::pread(file.file.get(), piece.data(), piece.size(), static_cast<off_t>(offset));
    return got > 0 && sink.write(piece.data(), static_cast<std::size_t>(got));
  }

  const Site& site;
  int port = -1;
  const std::string place = random_token().substr(16);  ///< First part of all paths.
  const std::string token = random_token();
  std::atomic<bool> ending{false};
  std::atomic<int> requests{0};
  std::atomic<int> downloads{0};
  Connections* waiting = nullptr;
};

Server::Server(const Site& site, int port) : parts_(std::make_unique<Parts>(site, port)) {}

Server::~Server() = default;

std::string Server::address() const {
  return parts_->address();
}

void Server::run_until(const std::atomic<bool>& stop) {
  parts_->run_until(stop);
}

}  // namespace bench::serve

#else

namespace bench::serve {

struct Server::Parts {};

Server::Server(const Site&, int) {
  throw Error("cannot serve: this bench was built without cpp-httplib 0.11",
              "build bench with libcpp-httplib-dev");
}

Server::~Server() = default;

std::string Server::address() const {
  return "";
}

void Server::run_until(const std::atomic<bool>&) {}

}  // namespace bench::serve

#endif
