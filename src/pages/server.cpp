#include "visitor.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <malloc.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>
#ifdef BENCH_HTTP
#include <httplib.h>
#endif

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/pages/page.hpp>
#include <bench/pages/server.hpp>
#include <bench/pages/site.hpp>

namespace bench::pages {

#ifdef BENCH_HTTP

namespace {

constexpr const char* loopback = "127.0.0.1";
constexpr const char* cookie_name = "bench_serve";
constexpr std::size_t threads = 8;
/// Concurrent downloads, which slow readers can hold for long: half of the threads stay free for
/// pages.
constexpr int most_downloads = 4;
/// Queued requests; no regular visitor sends as many.
constexpr int most_requests = 256;

/// The stream from which the library reads a request and to which it writes the answer. Only the
/// header is readable. A client that takes less than 64 KiB in 10 s is disconnected.
class HeadStream : public httplib::Stream {
 public:
  HeadStream(const UniqueFd& socket, std::string head, const std::atomic<bool>& ending)
      : socket_(socket), head_(std::move(head)), ending_(ending) {}

  bool has_failed() const { return failed_; }

  bool is_readable() const override { return read_ < head_.size(); }
  bool is_writable() const override { return !failed_; }

  ssize_t read(char* to, std::size_t size) override {
    const std::size_t count = std::min(size, head_.size() - read_);
    head_.copy(to, count, read_);
    read_ += count;
    return static_cast<ssize_t>(count);
  }

  ssize_t write(const char* from, std::size_t size) override {
    std::size_t sent = 0;
    while (!failed_ && sent < size) {
      const ssize_t took = ::send(socket_.get(), from + sent, std::min(size - sent, piece),
                                  MSG_NOSIGNAL | MSG_DONTWAIT);
      if (took > 0)
        note(static_cast<std::size_t>(took)), sent += static_cast<std::size_t>(took);
      else if (took < 0 && (errno == EAGAIN || errno == EINTR))
        failed_ = !waited();
      else
        failed_ = true;
    }
    return failed_ ? -1 : static_cast<ssize_t>(size);
  }

  void get_remote_ip_and_port(std::string& ip, int& port) const override {
    ip = "127.0.0.1";
    port = 0;
  }
  void get_local_ip_and_port(std::string& ip, int& port) const override {
    ip = "127.0.0.1";
    port = 0;
  }
  socket_t socket() const override { return socket_.get(); }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t piece = 65'536;
  static constexpr std::chrono::seconds patience{10};

  void note(std::size_t bytes) {
    taken_ += bytes;
    if (taken_ < piece)
      return;
    taken_ = 0;
    since_ = Clock::now();
  }

  bool waited() const {
    constexpr int pause_ms = 200;
    pollfd reader{.fd = socket_.get(), .events = POLLOUT, .revents = 0};
    ::poll(&reader, 1, pause_ms);
    return !ending_ && Clock::now() - since_ < patience;
  }

  const UniqueFd& socket_;
  std::string head_;
  std::size_t read_ = 0;
  const std::atomic<bool>& ending_;
  bool failed_ = false;
  std::size_t taken_ = 0;
  Clock::time_point since_ = Clock::now();
};

/// A connection on which a complete request header has arrived.
struct RequestHead {
  UniqueFd socket;
  std::string text;  ///< Ends with the empty line.
};

/// Connections that wait for their next request, all watched by one thread. A client that sends one
/// byte per second occupies a descriptor for a few seconds, but no thread.
class Connections {
 public:
  /// @param take called on the watching thread with each complete request
  explicit Connections(std::function<void(RequestHead)> take)
      : take_(std::move(take)),
        events_(::epoll_create1(EPOLL_CLOEXEC)),
        wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    epoll_event event{.events = EPOLLIN, .data = {.fd = wake_.get()}};
    if (!events_.valid() || !wake_.valid() ||
        ::epoll_ctl(events_.get(), EPOLL_CTL_ADD, wake_.get(), &event) != 0)
      throw Error::of_system("cannot watch connections", errno);
    thread_ = std::thread([this] { watch(); });
  }

  ~Connections() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    const std::uint64_t one = 1;
    while (::write(wake_.get(), &one, sizeof one) < 0 && errno == EINTR) {
    }
    thread_.join();
  }

  /// Thread-safe. If there are too many connections, closes the one that has waited longest.
  void add(UniqueFd socket) {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= most_waiting)
      waiting_.erase(
          std::ranges::min_element(waiting_, {}, [](const auto& one) { return one.second.since; }));
    const int number = socket.get();
    waiting_[number] = {std::move(socket), Clock::now()};
    // Edge-triggered: the header is only peeked at, and stays readable until it is complete.
    epoll_event event{.events = EPOLLIN | EPOLLRDHUP | EPOLLET, .data = {.fd = number}};
    if (::epoll_ctl(events_.get(), EPOLL_CTL_ADD, number, &event) != 0)
      waiting_.erase(number);
  }

  static constexpr std::size_t most_waiting = 512;
  static constexpr std::size_t longest_head = 16'384;  ///< Bytes.
  static constexpr std::chrono::seconds patience{10};  ///< For a request header to arrive.

 private:
  using Clock = std::chrono::steady_clock;
  struct Waiting {
    UniqueFd socket;
    Clock::time_point since;
  };

  void watch() {
    constexpr int second_ms = 1000;
    std::array<epoll_event, 64> arrived{};
    for (;;) {
      const int count = ::epoll_wait(events_.get(), arrived.data(), arrived.size(), second_ms);
      {
        const std::lock_guard lock(mutex_);
        if (ending_)
          return;
      }
      for (int k = 0; k < count; ++k)
        if (auto head = check_header(arrived[static_cast<std::size_t>(k)].data.fd))
          take_(std::move(*head));
      close_late_ones();
    }
  }

  /// Checks what has arrived of a header. Removes the connection if the header is complete or
  /// invalid.
  std::optional<RequestHead> check_header(int socket) {
    const std::lock_guard lock(mutex_);
    const auto found = waiting_.find(socket);
    if (found == waiting_.end())
      return std::nullopt;
    std::string text(longest_head, '\0');
    const ssize_t got = ::recv(socket, text.data(), text.size(), MSG_PEEK | MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
      return std::nullopt;
    constexpr std::string_view end_of_head = "\r\n\r\n";
    const auto end = std::string_view(text.data(), got > 0 ? static_cast<std::size_t>(got) : 0)
                         .find(end_of_head);
    if (end == std::string_view::npos) {
      if (got <= 0 || static_cast<std::size_t>(got) == longest_head)
        waiting_.erase(found);
      return std::nullopt;
    }
    text.resize(end + end_of_head.size());
    ::epoll_ctl(events_.get(), EPOLL_CTL_DEL, socket, nullptr);
    RequestHead head{std::move(found->second.socket), std::move(text)};
    waiting_.erase(found);
    // Data after the header stays in the socket for the next read.
    if (::recv(socket, head.text.data(), head.text.size(), MSG_DONTWAIT) !=
        static_cast<ssize_t>(head.text.size()))
      return std::nullopt;
    return head;
  }

  void close_late_ones() {
    const std::lock_guard lock(mutex_);
    const auto now = Clock::now();
    std::erase_if(waiting_, [&](const auto& one) { return now - one.second.since > patience; });
  }

  std::function<void(RequestHead)> take_;
  UniqueFd events_;
  UniqueFd wake_;
  std::mutex mutex_;
  std::map<int, Waiting> waiting_;  ///< By descriptor.
  bool ending_ = false;
  std::thread thread_;
};

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
      throw Error(Id::program_failed, "the server stopped accepting connections",
                  "restart bench serve");
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

#else

struct Server::Parts {};

Server::Server(const Site&, int) {
  throw Error(Id::unsupported, "cannot serve: this bench was built without cpp-httplib 0.11",
              "build bench with libcpp-httplib-dev");
}

Server::~Server() = default;

std::string Server::address() const {
  return "";
}

void Server::run_until(const std::atomic<bool>&) {}

#endif

}  // namespace bench::pages
