#include <string>
#include <string_view>

#include <fmt/core.h>

#include <bench/machine/job_id.hpp>

namespace bench::machine {
namespace {

std::string_view behind(std::string_view text, char mark) {
  const auto at = text.find(mark);
  return at == std::string_view::npos ? std::string_view{} : text.substr(at + 1);
}

std::string_view before(std::string_view text, char mark) {
  return text.substr(0, text.find(mark));
}

}  // namespace

std::string array_of(std::string_view id) {
  if (const auto bracket = id.find('['); bracket != std::string_view::npos)
    return std::string(id.substr(0, bracket)) + "[]";
  return with_cluster(before(before(id, ';'), '_'), behind(id, ';'));
}

std::string task_of(std::string_view array, int task) {
  if (array.ends_with("[]"))
    return fmt::format("{}{}]", array.substr(0, array.size() - 1), task);
  return with_cluster(fmt::format("{}_{}", before(array, ';'), task), behind(array, ';'));
}

std::string cluster_of(std::string_view id) {
  return std::string(behind(id, ';'));
}

std::string without_cluster(std::string_view id) {
  return std::string(before(id, ';'));
}

std::string with_cluster(std::string_view id, std::string_view cluster) {
  return cluster.empty() ? std::string(id) : fmt::format("{};{}", id, cluster);
}

}  // namespace bench::machine
