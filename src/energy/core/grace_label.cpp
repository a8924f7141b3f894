#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include <bench/energy/core/grace_label.hpp>
#include <bench/energy/core/scope.hpp>

namespace bench::energy {
namespace {

/// A prefix of the labels that Grace firmware gives its meters: `Grace Power Socket 0`.
struct GraceLabel {
  std::string_view prefix;
  Scope scope;
};
constexpr std::array grace_labels{
    GraceLabel{"Module Power", Scope::module},
    GraceLabel{"Total Power", Scope::module},
    GraceLabel{"Grace Power", Scope::grace},
    GraceLabel{"CPU Power", Scope::cpu_rail},
    GraceLabel{"CPU Rail Input Power", Scope::cpu_rail},
    GraceLabel{"SysIO Power", Scope::soc_rail},
    GraceLabel{"SoC Rail", Scope::soc_rail},
};

}  // namespace

int socket_of(const std::string& label) {
  int socket = -1;
  const auto at = label.rfind("Socket ");
  if (at != std::string::npos)
    std::from_chars(label.data() + at + 7, label.data() + label.size(), socket);
  return socket;
}

std::optional<Scope> scope_of_label(const std::string& label) {
  for (const GraceLabel& known : grace_labels)
    if (label.starts_with(known.prefix) && socket_of(label) >= 0)
      return known.scope;
  return std::nullopt;
}

}  // namespace bench::energy
