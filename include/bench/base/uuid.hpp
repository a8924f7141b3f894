#pragma once

#include <string>

namespace bench {

/// A random (version 4) UUID, as `01234567-89ab-4def-8123-456789abcdef`.
std::string make_uuid();

}  // namespace bench
