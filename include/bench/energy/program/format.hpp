#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace bench::energy {

enum class Format { csv, json, h5 };
std::string_view name_of(Format format);

/// `csv`, `json` or `h5`, in each text one or more of them with commas between.
/// @throws bench::Error for any other word
std::set<Format> parse_formats(const std::vector<std::string>& texts);

}  // namespace bench::energy
