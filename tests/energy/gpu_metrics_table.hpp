#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace bench::energy {

/// A table as the driver fills it, all-ones where nothing was put.
class MetricsTable {
 public:
  MetricsTable(unsigned char format, unsigned char content, std::size_t bytes = 128)
      : bytes_(bytes, std::byte{0xff}) {
    put(0, static_cast<std::uint16_t>(bytes));
    put(2, format);
    put(3, content);
  }

  template <class Integer>
  MetricsTable& put(std::size_t offset, Integer value) {
    std::memcpy(bytes_.data() + offset, &value, sizeof value);
    return *this;
  }

  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

/// Table v1.3, that of MI200.
inline MetricsTable table_1_3(std::uint16_t power_w, std::uint64_t count, std::uint64_t time_ns) {
  return MetricsTable(1, 3).put(22, power_w).put(24, count).put(32, time_ns);
}

}  // namespace bench::energy
