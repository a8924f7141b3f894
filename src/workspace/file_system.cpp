#include "file_system.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include <sys/vfs.h>

namespace bench::workspace {

bool on_local_file_system(const std::filesystem::path& directory) {
  // Magic numbers of statfs(2): ext, xfs, btrfs, tmpfs, overlayfs, f2fs, zfs, bcachefs.
  constexpr std::array<std::uint32_t, 8> local{0xEF53,     0x58465342, 0x9123683E, 0x01021994,
                                               0x794C7630, 0xF2F52010, 0x2FC12FC1, 0xCA451A4E};
  struct statfs info {};
  if (::statfs(directory.c_str(), &info) != 0)
    return false;
  return std::find(local.begin(), local.end(), static_cast<std::uint32_t>(info.f_type)) !=
         local.end();
}

}  // namespace bench::workspace
