#include <array>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/energy/program/format.hpp>

namespace bench::energy {
namespace {

const std::array<std::string, 3> format_names{"csv", "json", "h5"};

Format parse_format(const std::string& text) {
  for (std::size_t i = 0; i < format_names.size(); ++i)
    if (format_names[i] == text)
      return static_cast<Format>(i);
  throw Error(fmt::format("unknown format '{}'", text), suggestion(text, format_names));
}

}  // namespace

std::string_view name_of(Format format) {
  return format_names[static_cast<std::size_t>(format)];
}

std::set<Format> parse_formats(const std::vector<std::string>& texts) {
  std::set<Format> formats;
  for (const std::string& text : texts)
    for (const std::string& name : split_names(text))
      formats.insert(parse_format(name));
  return formats;
}

}  // namespace bench::energy
