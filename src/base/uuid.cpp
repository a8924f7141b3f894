#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include <boost/uuid/random_generator.hpp>
#include <boost/uuid/uuid_io.hpp>

#include <bench/base/uuid.hpp>

namespace bench {

std::string make_uuid() {
  static boost::uuids::random_generator generator;
  boost::uuids::uuid uuid = generator();
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto unix_ms = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
  // 48 bits of time, the version in place of random's, and random's other 74 bits.
  for (unsigned byte = 0; byte < 6; ++byte)
    uuid.data[byte] = static_cast<std::uint8_t>(unix_ms >> (40 - 8 * byte));
  uuid.data[6] = static_cast<std::uint8_t>((uuid.data[6] & 0x0F) | 0x70);
  return boost::uuids::to_string(uuid);
}

bool is_uuid(std::string_view text) {
  constexpr std::string_view pattern = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
  return std::ranges::equal(text, pattern, [](unsigned char letter, char wanted) {
    return wanted == '-' ? letter == '-' : std::isxdigit(letter) != 0;
  });
}

}  // namespace bench
