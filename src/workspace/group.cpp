#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bench/base/error.hpp>
#include <bench/workspace/group.hpp>

namespace bench::workspace {
namespace {

std::string group_name() {
  const char* name = std::getenv("JUBE_GROUP_NAME");
  return name ? name : "";
}

bool is_member(gid_t group) {
  if (group == ::getegid())
    return true;
  std::vector<gid_t> groups(static_cast<std::size_t>(std::max(0, ::getgroups(0, nullptr))));
  const int count = ::getgroups(static_cast<int>(groups.size()), groups.data());
  return std::find(groups.begin(), groups.begin() + std::max(0, count), group) !=
         groups.begin() + std::max(0, count);
}

std::optional<gid_t> wanted_group() {
  const std::string name = group_name();
  if (name.empty())
    return std::nullopt;
  const struct group* found = ::getgrnam(name.c_str());
  if (!found)
    throw Error(Id::unknown_name, fmt::format("there is no group '{}'", name),
                "JUBE_GROUP_NAME names it");
  if (!is_member(found->gr_gid))
    throw Error(Id::system_error, fmt::format("you are not in the group '{}'", name),
                "JUBE_GROUP_NAME names it; `id` lists your groups");
  return found->gr_gid;
}

}  // namespace

void apply_group_umask() {
  if (!group_name().empty())
    ::umask(002);
}

void check_group() {
  wanted_group();
}

void give_to_group(const std::filesystem::path& directory) {
  const std::optional<gid_t> group = wanted_group();
  if (!group)
    return;
  // The owner first: a change of it takes the setgid bit away.
  if (::chown(directory.c_str(), static_cast<uid_t>(-1), *group) != 0 ||
      ::chmod(directory.c_str(), 02775) != 0)
    throw Error(Id::system_error,
                fmt::format("cannot give {} to the group '{}': {}", directory.string(),
                            group_name(), std::strerror(errno)));
}

}  // namespace bench::workspace
