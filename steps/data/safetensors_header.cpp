#include "data/safetensors_header.hpp"

#include "data/files.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace bench::steps {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::uint64_t length_bytes = sizeof(std::uint64_t);
constexpr std::uint64_t longest_header = 100'000'000;  // the format's own limit
constexpr std::size_t alignment = 8;                   // of the first tensor
constexpr const char* metadata_name = "__metadata__";

struct TypeSize {
  std::string_view name;
  std::size_t bytes;
};

constexpr std::array<TypeSize, 12> types{{{"F64", 8},
                                          {"F32", 4},
                                          {"F16", 2},
                                          {"BF16", 2},
                                          {"I64", 8},
                                          {"I32", 4},
                                          {"I16", 2},
                                          {"I8", 1},
                                          {"U64", 8},
                                          {"U32", 4},
                                          {"U8", 1},
                                          {"BOOL", 1}}};

/// @throws std::out_of_range if the product is too large for a file
std::uint64_t bytes_of_shape(const StoredTensor& tensor) {
  std::uint64_t bytes = bytes_of_safetensors_type(tensor.type);
  for (const std::int64_t size : tensor.shape) {
    if (size < 0 || (size > 0 && bytes > std::numeric_limits<std::int64_t>::max() /
                                             static_cast<std::uint64_t>(size)))
      throw std::out_of_range("its shape is too large");
    bytes *= static_cast<std::uint64_t>(size);
  }
  return bytes;
}

class HeaderReader {
 public:
  HeaderReader(const std::string& file, std::string_view bytes) : file_(file), bytes_(bytes) {}

  std::vector<StoredTensor> read() {
    const json header = parse();
    std::vector<StoredTensor> tensors;
    for (const auto& [name, entry] : header.items())
      if (name != metadata_name)
        tensors.push_back(tensor_of(name, entry));
    std::ranges::sort(tensors, {}, &StoredTensor::begin);
    check_no_gaps(tensors);
    return tensors;
  }

 private:
  [[noreturn]] void fail(std::uint64_t offset, const std::string& message) const {
    throw DataError(file_, offset, message);
  }

  json parse() {
    if (bytes_.size() < length_bytes)
      fail(0, "too short for a safetensors file");
    const auto length = number_at<std::uint64_t>(bytes_, 0);
    if (length > longest_header)
      fail(0, fmt::format("not a safetensors file: its header would have {} bytes", length));
    if (length > bytes_.size() - length_bytes)
      fail(0, fmt::format("the header has {} bytes, of which {} are there", length,
                          bytes_.size() - length_bytes));
    data_begin_ = length_bytes + length;
    json header = json::parse(bytes_.substr(length_bytes, length), nullptr, false);
    if (!header.is_object())
      fail(length_bytes, "the header is not a JSON object");
    return header;
  }

  StoredTensor tensor_of(const std::string& name, const json& entry) const {
    try {
      const auto [begin, end] =
          entry.at("data_offsets").get<std::pair<std::uint64_t, std::uint64_t>>();
      StoredTensor tensor{.name = name,
                          .type = entry.at("dtype").get<std::string>(),
                          .shape = entry.at("shape").get<std::vector<std::int64_t>>()};
      if (bytes_of_safetensors_type(tensor.type) == 0)
        throw std::out_of_range(fmt::format("its type '{}' is unknown", tensor.type));
      if (end < begin || end > bytes_.size() - data_begin_)
        throw std::out_of_range(
            fmt::format("its bytes {} to {} are not all in the file", begin, end));
      tensor.begin = data_begin_ + begin;
      tensor.bytes = end - begin;
      if (tensor.bytes != bytes_of_shape(tensor))
        throw std::out_of_range(fmt::format("it has {} bytes, its shape needs {}", tensor.bytes,
                                            bytes_of_shape(tensor)));
      return tensor;
    } catch (const json::exception&) {
      fail(length_bytes, fmt::format("tensor '{}': its entry in the header is not whole", name));
    } catch (const std::out_of_range& error) {
      fail(length_bytes, fmt::format("tensor '{}': {}", name, error.what()));
    }
  }

  void check_no_gaps(const std::vector<StoredTensor>& tensors) const {
    std::uint64_t at = data_begin_;
    for (const StoredTensor& tensor : tensors) {
      if (tensor.begin != at)
        fail(at, fmt::format("tensor '{}' begins at byte {}", tensor.name, tensor.begin));
      at += tensor.bytes;
    }
    if (at != bytes_.size())
      fail(at, "these bytes belong to no tensor");
  }

  const std::string& file_;
  std::string_view bytes_;
  std::uint64_t data_begin_ = 0;
};

}  // namespace

std::size_t bytes_of_safetensors_type(std::string_view type) {
  const auto* const found = std::ranges::find(types, type, &TypeSize::name);
  return found == types.end() ? 0 : found->bytes;
}

std::vector<StoredTensor> read_safetensors_header(const std::string& file, std::string_view bytes) {
  return HeaderReader(file, bytes).read();
}

std::string safetensors_header(const std::vector<StoredTensor>& tensors,
                               const std::map<std::string, std::string>& metadata) {
  ordered_json header = ordered_json::object();
  if (!metadata.empty())
    header[metadata_name] = metadata;
  std::uint64_t at = 0;
  for (const StoredTensor& tensor : tensors) {
    const std::uint64_t end = at + bytes_of_shape(tensor);
    header[tensor.name] = {
        {"dtype", tensor.type}, {"shape", tensor.shape}, {"data_offsets", {at, end}}};
    at = end;
  }
  std::string text = header.dump();
  text.append((alignment - text.size() % alignment) % alignment, ' ');
  const std::uint64_t length = text.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof length) + text;
}

}  // namespace bench::steps
