#include "harness/weights.hpp"

#include "data/files.hpp"
#include "harness/errors.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace bench::steps {
namespace {

namespace fs = std::filesystem;

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::uint64_t length_bytes = sizeof(std::uint64_t);
constexpr std::uint64_t longest_header = 100'000'000;  // the format's own limit
constexpr std::size_t alignment = 8;                   // of the first tensor
constexpr const char* metadata_name = "__metadata__";

/// A type of the format, and the same type of LibTorch, if there is one.
struct NumberFormat {
  std::string_view name;
  std::size_t bytes;
  std::optional<torch::ScalarType> type = {};
};

constexpr std::array<NumberFormat, 12> formats{{{"F64", 8, torch::kFloat64},
                                                {"F32", 4, torch::kFloat32},
                                                {"F16", 2, torch::kFloat16},
                                                {"BF16", 2, torch::kBFloat16},
                                                {"I64", 8, torch::kInt64},
                                                {"I32", 4, torch::kInt32},
                                                {"I16", 2, torch::kInt16},
                                                {"I8", 1, torch::kInt8},
                                                {"U64", 8},
                                                {"U32", 4},
                                                {"U8", 1, torch::kUInt8},
                                                {"BOOL", 1, torch::kBool}}};

/// Null for an unknown one.
const NumberFormat* format_named(std::string_view name) {
  const auto* const found = std::ranges::find(formats, name, &NumberFormat::name);
  return found == formats.end() ? nullptr : found;
}

std::string format_name(torch::ScalarType type) {
  const auto* const found = std::ranges::find(formats, std::optional(type), &NumberFormat::type);
  if (found == formats.end())
    throw std::logic_error(fmt::format("weights of the type {}", torch::toString(type)));
  return std::string(found->name);
}

/// @param tensor of a known type
/// @throws std::out_of_range if the product is too large for a file
std::uint64_t bytes_of_shape(const StoredTensor& tensor) {
  std::uint64_t bytes = format_named(tensor.type)->bytes;
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
      if (!format_named(tensor.type))
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

/// Sorted by name.
std::map<std::string, torch::Tensor> tensors_of(const torch::nn::Module& module) {
  std::map<std::string, torch::Tensor> tensors;
  for (const auto& parameter : module.named_parameters())
    tensors[parameter.key()] = parameter.value();
  for (const auto& buffer : module.named_buffers())
    tensors[buffer.key()] = buffer.value();
  return tensors;
}

torch::Tensor read_tensor(const StoredTensor& stored, const MappedFile& file) {
  const auto type = format_named(stored.type)->type;
  if (!type)
    throw HintedError(
        fmt::format("{}: tensor '{}' has the type {}", file.path(), stored.name, stored.type),
        "LibTorch has no such type: convert it, to F32 for instance");
  const torch::Tensor tensor = torch::empty(stored.shape, torch::TensorOptions().dtype(*type));
  std::memcpy(tensor.data_ptr(), file.bytes().data() + stored.begin, stored.bytes);
  return tensor;
}

/// A few of them.
std::string some(const std::vector<std::string>& names) {
  constexpr std::size_t most = 3;
  const std::vector<std::string> first(
      names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), most)));
  return fmt::format("{}{}", fmt::join(first, ", "),
                     names.size() > most ? fmt::format(" and {} more", names.size() - most) : "");
}

void check_names(const MappedFile& file, const std::vector<StoredTensor>& stored,
                 const std::map<std::string, torch::Tensor>& tensors) {
  std::vector<std::string> unknown;
  auto missing = tensors;
  for (const StoredTensor& tensor : stored)
    if (missing.erase(tensor.name) == 0)
      unknown.push_back(tensor.name);
  std::vector<std::string> absent;
  for (const auto& [name, tensor] : missing)
    absent.push_back(name);
  if (unknown.empty() && absent.empty())
    return;
  std::string differences;
  if (!absent.empty())
    differences += " it has no " + some(absent);
  if (!unknown.empty())
    differences += (absent.empty() ? "" : ";") + std::string(" this model has no ") + some(unknown);
  throw HintedError(
      fmt::format("{}: weights of another model:{}", file.path(), differences),
      "`--save-weights` writes a file with this model's names and shapes, to compare with");
}

}  // namespace

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

void save_weights(const std::string& file, const torch::nn::Module& module) {
  if (file.empty())
    return;
  const auto tensors = tensors_of(module);
  std::vector<StoredTensor> header;
  for (const auto& [name, tensor] : tensors)
    header.push_back(
        {.name = name, .type = format_name(tensor.scalar_type()), .shape = tensor.sizes().vec()});
  // A full disk, or a kill meanwhile, leaves the file that was there. A link stays one, and a
  // device is written itself.
  const fs::path target = fs::exists(file) ? fs::canonical(file) : fs::path(file);
  const bool is_device = fs::exists(target) && !fs::is_regular_file(target);
  const std::string written = is_device ? file : target.string() + ".part";
  OutputFile out(written);
  out.write(safetensors_header(header, {{"format", "pt"}}));
  for (const auto& [name, tensor] : tensors) {
    const torch::Tensor bytes = tensor.detach().cpu().contiguous();
    out.write({static_cast<const char*>(bytes.data_ptr()), bytes.nbytes()});
  }
  out.close();
  if (!is_device)
    fs::rename(written, target);
}

void load_weights(const std::string& file, torch::nn::Module& module) {
  if (file.empty())
    return;
  const MappedFile mapped(file, "give a safetensors file");
  const std::vector<StoredTensor> stored = read_safetensors_header(file, mapped.bytes());
  auto tensors = tensors_of(module);
  check_names(mapped, stored, tensors);
  const torch::NoGradGuard no_gradients;
  for (const StoredTensor& one : stored) {
    torch::Tensor& tensor = tensors.at(one.name);
    if (tensor.sizes() != torch::IntArrayRef(one.shape))
      throw HintedError(
          fmt::format("{}: tensor '{}' has the shape ({}), the model's has ({})", file, one.name,
                      fmt::join(one.shape, ", "), fmt::join(tensor.sizes(), ", ")),
          "the weights belong to a model of another size");
    tensor.copy_(read_tensor(one, mapped));
  }
}

}  // namespace bench::steps
