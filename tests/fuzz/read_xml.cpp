#include "tree.hpp"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace bench;
  fuzz::read_and_check(document::read_xml, std::string(fuzz::text_of(data, size)));
  return 0;
}
