#pragma once

#include <map>
#include <string>

namespace bench::serve {

/// Letters for a token that nobody guesses: 128 random bits.
/// @throws Error if the kernel has no random numbers
std::string random_token();

/// Compares in a time that tells nothing of where the texts differ.
bool is_same_secret(const std::string& a, const std::string& b);

/// The value of a cookie in the header of a request; empty if there is none.
std::string cookie_of(const std::string& header, const std::string& name);

/// Whether a browser was told to come to this machine: the name in `Host` is that of loopback. A
/// name that an attacker lets resolve to 127.0.0.1 is none. The port may be that of a tunnel.
bool is_loopback_name(const std::string& host);

}  // namespace bench::serve
