#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <bench/energy/core/additive.hpp>
#include <bench/energy/core/power_source.hpp>
#include <bench/energy/sources/claims.hpp>

namespace bench::energy {

/// One source to use: its name and, behind the colon, what it is told.
struct Method {
  std::string name;
  std::string argument;

  bool operator==(const Method&) const = default;
};

/// Where sources look, and what users asked for.
struct SourceSettings {
  std::vector<Method> methods;
  bool automatic = false;  ///< Nobody named these methods: an absent one deserves no warning.
  std::shared_ptr<Claims> claims;  ///< Among the meters of this node; none: all is ours.
  std::filesystem::path sysfs_root = "/sys";
  Owned owned = Owned::all;  ///< By the program that is measured.
};

/// A kind of power source. Each is one file, which defines its own, and a line of the list in
/// methods.cpp.
struct SourceMethod {
  std::string_view name;
  std::string_view other_name = "";  ///< Which users may write instead.
  /// @throws bench::Error whose message says why the node does not have it
  std::unique_ptr<PowerSource> (*open)(const std::string& argument, const SourceSettings& settings);
  bool automatic = false;          ///< Part of `auto`.
  bool has_devices = false;        ///< Each process may see others.
  std::string_view argument = "";  ///< What follows the colon, as an example; empty: nothing.
  /// @throws bench::Error for a bad argument; there is one where `argument` is not empty
  void (*check)(const std::string& argument) = nullptr;
  std::string_view note = "";  ///< For the help.
};

}  // namespace bench::energy
