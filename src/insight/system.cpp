#include "check_functions.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <bench/base/text.hpp>
#include <bench/insight/ask.hpp>
#include <bench/insight/checks.hpp>

namespace bench::doctor {
namespace {

/// 4 and 18 of `4.18.0-553.el8`.
std::optional<std::pair<long long, long long>> version_in(const std::string& text) {
  const auto parts = split(text, ".");
  if (parts.size() < 2)
    return std::nullopt;
  const auto first = parse_integer(parts[0]);
  const auto second = parse_integer(parts[1].substr(0, parts[1].find_first_not_of("0123456789")));
  if (!first || !second)
    return std::nullopt;
  return std::pair{*first, *second};
}

}  // namespace

Findings check_kernel(const System&) {
  utsname system{};
  ::uname(&system);
  const std::string text = fmt::format("{} {} {}", system.sysname, system.release, system.machine);
  const auto version = version_in(system.release);
  if (version && *version < std::pair{4LL, 18LL})
    return {{"", Health::warning, text + " is older than 4.18",
             "bench does not support it: use a node with a newer system"}};
  return {{"", Health::ok, text, ""}};
}

Findings check_libc(const System&) {
  std::string text(64, '\0');
  const std::size_t size = ::confstr(_CS_GNU_LIBC_VERSION, text.data(), text.size());
  if (size == 0)
    return {{"", Health::warning, "the C library is not glibc",
             "vendors' libraries, such as NVML, may not load: use a system with glibc"}};
  text.resize(size - 1);
  return {{"", Health::ok, text, ""}};
}

Findings check_clock(const System& system) {
  const std::string source = first_line_of(
      system.root / "sys/devices/system/clocksource/clocksource0/current_clocksource");
  if (source.empty())
    return {{"", Health::warning, "cannot determine the kernel's clock source",
             "check that /sys is mounted, or ask the administrator"}};
  // Reading these goes through a device and takes a microsecond or more.
  constexpr std::array<std::string_view, 5> slow{"hpet", "acpi_pm", "jiffies", "pit",
                                                 "refined-jiffies"};
  if (std::ranges::find(slow, source) != slow.end())
    return {{"", Health::warning, fmt::format("clock source {} is slow to read", source),
             "ask the administrator why the kernel does not trust the processor's own clock "
             "(`dmesg | grep -i clocksource`)"}};
  return {{"", Health::ok, "clock source " + source, ""}};
}

}  // namespace bench::doctor
