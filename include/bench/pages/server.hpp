#pragma once

#include <atomic>
#include <memory>
#include <string>

#include <bench/pages/site.hpp>

namespace bench::serve {

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

/// An unguessable token: 128 random bits as text.
/// @throws Error if the kernel provides no random numbers
std::string random_token();

/// Compares in constant time, so that timing does not reveal where the texts differ.
bool is_same_secret(const std::string& a, const std::string& b);

/// The value of a cookie in the header of a request; empty if there is none.
std::string cookie_of(const std::string& header, const std::string& name);

/// Whether a `Host` header names the loopback interface. This prevents DNS rebinding: a name that
/// an attacker resolves to 127.0.0.1 is refused. The port may be that of a tunnel.
bool is_loopback_name(const std::string& host);

}  // namespace bench::serve
