#include "harness/weights.hpp"

#include "data/files.hpp"
#include "data/safetensors_header.hpp"
#include "harness/errors.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace bench::steps {
namespace {

namespace fs = std::filesystem;

constexpr std::pair<std::string_view, torch::ScalarType> types[] = {
    {"F64", torch::kFloat64},   {"F32", torch::kFloat32}, {"F16", torch::kFloat16},
    {"BF16", torch::kBFloat16}, {"I64", torch::kInt64},   {"I32", torch::kInt32},
    {"I16", torch::kInt16},     {"I8", torch::kInt8},     {"U8", torch::kUInt8},
    {"BOOL", torch::kBool}};

std::string type_name(torch::ScalarType type) {
  for (const auto& [name, known] : types)
    if (known == type)
      return std::string(name);
  throw std::logic_error(fmt::format("weights of the type {}", torch::toString(type)));
}

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
  for (const auto& [name, type] : types)
    if (name == stored.type) {
      const torch::Tensor tensor = torch::empty(stored.shape, torch::TensorOptions().dtype(type));
      std::memcpy(tensor.data_ptr(), file.bytes().data() + stored.begin, stored.bytes);
      return tensor;
    }
  throw HintedError(
      fmt::format("{}: tensor '{}' has the type {}", file.path(), stored.name, stored.type),
      "LibTorch has no such type: convert it, to F32 for instance");
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

void save_weights(const std::string& file, const torch::nn::Module& module) {
  if (file.empty())
    return;
  const auto tensors = tensors_of(module);
  std::vector<StoredTensor> header;
  for (const auto& [name, tensor] : tensors)
    header.push_back(
        {.name = name, .type = type_name(tensor.scalar_type()), .shape = tensor.sizes().vec()});
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
