#include <string>
#include <string_view>

#include <fmt/core.h>

#include <bench/base/outcome.hpp>
#include <bench/machine/failed_node.hpp>

namespace bench::machine {
namespace {

constexpr std::string_view node_word = "node ";
constexpr std::string_view failed_word = " failed: ";

}  // namespace

bool may_be_fault_of_node(Outcome outcome) {
  return outcome == Outcome::node_fail || outcome == Outcome::boot_fail ||
         outcome == Outcome::launch_failure;
}

std::string reason_with_node(const std::string& node, const std::string& reason) {
  return fmt::format("{}{}{}{}", node_word, node, failed_word, reason);
}

std::string node_in_reason(std::string_view reason) {
  if (!reason.starts_with(node_word))
    return "";
  reason.remove_prefix(node_word.size());
  const auto end = reason.find(' ');
  return end != std::string_view::npos && reason.substr(end).starts_with(failed_word)
             ? std::string(reason.substr(0, end))
             : "";
}

}  // namespace bench::machine
