#pragma once

#include <array>
#include <cerrno>
#include <cstddef>
#include <string>

#include <fmt/core.h>
#include <sys/random.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>

namespace bench::pages {

/// An unguessable token: 128 random bits as text.
/// @throws Error if the kernel provides no random numbers
inline std::string random_token() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw Error::of_system("cannot generate a token", errno);
  std::string token;
  for (const unsigned char byte : bytes)
    token += fmt::format("{:02x}", byte);
  return token;
}

/// Compares in constant time, so that timing does not reveal where the texts differ.
inline bool is_same_secret(const std::string& a, const std::string& b) {
  if (a.size() != b.size())
    return false;
  unsigned char difference = 0;
  for (std::size_t k = 0; k < a.size(); ++k)
    difference |= static_cast<unsigned char>(a[k] ^ b[k]);
  return difference == 0;
}

/// The value of a cookie in the header of a request; empty if there is none.
inline std::string cookie_of(const std::string& header, const std::string& name) {
  for (const std::string& pair : split_names(header, ";"))
    if (pair.starts_with(name + "="))
      return pair.substr(name.size() + 1);
  return "";
}

/// Whether a `Host` header names the loopback interface. This prevents DNS rebinding: a name that
/// an attacker resolves to 127.0.0.1 is refused. The port may be that of a tunnel.
inline bool is_loopback_name(const std::string& host) {
  const auto bracket = host.find(']');
  const auto colon = host.find(':', bracket == std::string::npos ? 0 : bracket);
  const std::string name = to_lower(host.substr(0, colon));
  const std::string port = colon == std::string::npos ? "" : host.substr(colon + 1);
  return (name == "127.0.0.1" || name == "localhost" || name == "[::1]") &&
         port.find_first_not_of("0123456789") == std::string::npos;
}

}  // namespace bench::pages
