#pragma once

#include <string>
#include <string_view>

namespace bench {

enum class Compression { fastest, smallest };

/// RFC 1952, without a time and a name, so that equal bytes stay equal.
/// @throws Error if memory runs out
std::string gzip(std::string_view bytes, Compression compression);

}  // namespace bench
