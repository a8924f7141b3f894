#pragma once

#include <atomic>
#include <memory>
#include <string>

#include <bench/serve/site.hpp>

namespace bench::serve {

/// Serves a site by HTTP on the loopback interface, to those who know its address: it has a token
/// of 128 random bits. Answers GET and HEAD. A client that is slow, or many of them, keep nobody
/// from being served: a thread takes a request only once it is there as a whole.
class Server {
 public:
  /// Listens from here on.
  /// @param port 0: any that is free
  /// @throws Error if the port is taken, or bench was built without an HTTP library
  Server(const Site& site, int port);
  ~Server();

  /// `http://127.0.0.1:40123/1f0c.../?token=...`
  std::string address() const;

  /// Serves until `stop`, at which it looks several times a second.
  void run_until(const std::atomic<bool>& stop);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace bench::serve
