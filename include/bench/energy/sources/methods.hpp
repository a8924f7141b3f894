#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <bench/base/error.hpp>
#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/measurement.hpp>
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

/// Reads `auto`, `nvml`, `amd`, `rapl`, `model:cpu=65W`, `mock:...` and the others that
/// `bench-energy --help` lists, each text one or more of them with commas between. None at all is
/// `auto`. What follows `command:` is the command to its end, commas and all.
/// @param other_names what the user might have meant besides, for the hint
/// @throws bench::Error for an unknown name or a bad argument
SourceSettings parse_methods(const std::vector<std::string>& texts,
                             std::span<const std::string> other_names = {});

/// Whether the meter would take these methods, for those who hand them on to it.
/// @throws bench::Error as `parse_methods`, with the place where they stand
void check_methods(const std::string& text, const Place& place);

/// What `--method` takes, for the help: every source with its argument and note.
std::string methods_help();

/// What to call a method: `model:gpu` of `model:gpu=60W..400W`, else its name.
std::string label_of(const Method& method);

/// Opens one source, if no other meter of this node has claimed it: nothing then. A source whose
/// devices differ from process to process is claimed by what it shows, the others by their names.
/// @throws bench::Error whose message says why the node does not have it
std::unique_ptr<PowerSource> claim_source(const Method& method, const SourceSettings& settings);

/// Opens one source.
/// @throws bench::Error whose message says why the node does not have it
std::unique_ptr<PowerSource> open_source(const Method& method, const SourceSettings& settings);

/// The opened sources, with their channels as one list: first all that can be read.
struct Sources {
  std::vector<std::unique_ptr<PowerSource>> opened;
  std::vector<Channel> channels;
  std::vector<Absence> absences;
  std::vector<std::string> notes;
};

/// Opens every method; one that is not there becomes an absence.
Sources open_sources(const SourceSettings& settings);

}  // namespace bench::energy
