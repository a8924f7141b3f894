#include "vision/architecture.hpp"

#include "vision/network/layers.hpp"
#include "vision/network/tables.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench::vision {
namespace {

struct Entry {
  const char* name;
  std::int64_t image_size;
  Path (*layers_before_classifier)();
};

constexpr Entry entries[] = {
    {"alexnet", 227, alexnet},
    {"inception3", 299, inception3},
    {"resnet18", 224,
     [] {
       return resnet(ResidualBlock::basic, {2, 2, 2, 2});
     }},
    {"resnet34", 224,
     [] {
       return resnet(ResidualBlock::basic, {3, 4, 6, 3});
     }},
    {"resnet50", 224,
     [] {
       return resnet(ResidualBlock::bottleneck, {3, 4, 6, 3});
     }},
    {"resnet50_v2", 224,
     [] {
       return resnet(ResidualBlock::preactivation, {3, 4, 6, 3});
     }},
    {"resnet101", 224,
     [] {
       return resnet(ResidualBlock::bottleneck, {3, 4, 23, 3});
     }},
    {"resnet152", 224,
     [] {
       return resnet(ResidualBlock::bottleneck, {3, 8, 36, 3});
     }},
    {"vgg16", 224, vgg16},
};

}  // namespace

const std::vector<std::string>& architecture_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> result;
    for (const Entry& entry : entries)
      result.emplace_back(entry.name);
    return result;
  }();
  return names;
}

Architecture make_architecture(const std::string& name, std::int64_t classes) {
  const auto* entry = std::find_if(std::begin(entries), std::end(entries),
                                   [&](const Entry& known) { return known.name == name; });
  if (entry == std::end(entries))
    throw std::invalid_argument("unknown model '" + name + "'");
  Architecture result{name, entry->image_size, entry->layers_before_classifier()};
  result.layers.push_back(Linear{classes});
  return result;
}

std::int64_t smallest_image_size(const Architecture& architecture) {
  std::int64_t size = 1;
  while (output_shape(architecture.layers, architecture.input(size)).pixels() == 0)
    ++size;
  return size;
}

}  // namespace bench::vision
