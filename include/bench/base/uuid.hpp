#pragma once

#include <string>
#include <string_view>

namespace bench {

/// A UUID of the time and of random numbers (version 7, RFC 9562), as
/// `01234567-89ab-7def-8123-456789abcdef`. One that is made in a later millisecond sorts behind, so
/// that an index of 100,000 grows at its end.
std::string make_uuid();

/// Whether the text is written like a UUID.
bool is_uuid(std::string_view text);

}  // namespace bench
