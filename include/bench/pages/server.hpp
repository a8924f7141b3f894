#pragma once

#include <atomic>
#include <memory>
#include <string>

#include <bench/pages/site.hpp>

namespace bench::pages {

/// Serves a site over HTTP on the loopback interface. Only clients that present the token in its
/// address, 128 random bits, are served. Accepts GET and HEAD. Slow clients do not block others: a
/// worker thread takes a request only after its whole header has arrived.
class Server {
 public:
  /// Starts to listen.
  /// @param port 0: any free port
  /// @throws Error if the port is taken, or bench was built without an HTTP library
  Server(const Site& site, int port);
  ~Server();

  /// `http://127.0.0.1:40123/1f0c.../?token=...`
  std::string address() const;

  /// Serves until `stop` is set, which it checks several times a second.
  void run_until(const std::atomic<bool>& stop);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace bench::pages
