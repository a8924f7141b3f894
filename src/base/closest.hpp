#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace bench {

/// The word that `did_you_mean` asks about, or nothing.
std::optional<std::string> closest(std::string_view word, std::span<const std::string> known);

}  // namespace bench
