#include "harness/json.hpp"

#include <string>
#include <string_view>

namespace bench::steps {

std::string json_string(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text)
    if (c == '"' || c == '\\')
      quoted.append(1, '\\').append(1, c);
    else if (static_cast<unsigned char>(c) < 0x20)
      quoted += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      quoted += c;
  return quoted + '"';
}

}  // namespace bench::steps
