#pragma once

#include <string>

namespace bench::pages {

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

}  // namespace bench::pages
