#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string>

#include <fmt/core.h>

#include <bench/energy/sources/amd_gauge.hpp>
#include <bench/energy/sources/gpu_metrics.hpp>

namespace bench::energy {
namespace {

constexpr double seconds_per_ns = 1e-9;
constexpr std::size_t header_bytes = 4;
constexpr unsigned discrete_format = 1;

/// Offsets in bytes of one table of format 1; its index is the content revision.
struct MetricsLayout {
  std::size_t power;   ///< u16
  std::size_t energy;  ///< u64; in v1.0 u32
  std::size_t clock;   ///< u64
};
constexpr std::array metrics_layouts{
    MetricsLayout{34, 36, 8},  MetricsLayout{22, 24, 32}, MetricsLayout{22, 24, 32},
    MetricsLayout{22, 24, 32}, MetricsLayout{10, 24, 32}, MetricsLayout{10, 88, 96},
    MetricsLayout{10, 16, 24}, MetricsLayout{10, 24, 32}, MetricsLayout{10, 24, 32},
};

template <class Integer>
std::optional<std::uint64_t> value_at(std::span<const std::byte> table, std::size_t offset) {
  Integer value{};
  if (offset + sizeof value > table.size())
    return std::nullopt;
  std::memcpy(&value, table.data() + offset, sizeof value);
  if (value == std::numeric_limits<Integer>::max())
    return std::nullopt;
  return value;
}

}  // namespace

std::optional<AmdValues> parse_gpu_metrics(std::span<const std::byte> table, std::string& failure) {
  std::uint16_t bytes = 0;
  if (table.size() >= header_bytes)
    std::memcpy(&bytes, table.data(), sizeof bytes);
  if (bytes < header_bytes || bytes > table.size()) {
    failure = fmt::format("{} bytes are not a whole table", table.size());
    return std::nullopt;
  }
  const auto format = std::to_integer<unsigned>(table[2]);
  const auto content = std::to_integer<unsigned>(table[3]);
  if (format != discrete_format || content >= metrics_layouts.size()) {
    failure = fmt::format("table v{}.{} is not known", format, content);
    return std::nullopt;
  }
  const MetricsLayout& layout = metrics_layouts[content];
  const auto used = table.first(bytes);
  AmdValues values;
  if (const auto power_w = value_at<std::uint16_t>(used, layout.power))
    values.power_w = static_cast<double>(*power_w);
  values.energy_count = content == 0 ? value_at<std::uint32_t>(used, layout.energy)
                                     : value_at<std::uint64_t>(used, layout.energy);
  if (const auto time_ns = value_at<std::uint64_t>(used, layout.clock))
    values.time_s = static_cast<double>(*time_ns) * seconds_per_ns;
  return values;
}

}  // namespace bench::energy
