#include "convert.hpp"
#include "value.hpp"

#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/document/read.hpp>

namespace bench::document {
namespace {

/// By the name, else by the first byte that is not blank.
bool is_xml(const std::filesystem::path& file, const std::string& text) {
  const std::string extension = to_lower(file.extension().string());
  if (extension == ".yaml" || extension == ".yml")
    return false;
  return extension == ".xml" || strip(text).starts_with('<');
}

}  // namespace

Node read_yaml(const std::string& text, const std::string& name, Diagnostics& diagnostics) {
  return convert(*parse_yaml(text, name), name, diagnostics);
}

Node read_file(const std::filesystem::path& file, Diagnostics& diagnostics) {
  const std::string text = bench::read_file(file);
  if (is_xml(file, text))
    throw Error("XML input is not supported by this version of bench", "",
                Place{file.string(), 0, 0});
  return read_yaml(text, file.string(), diagnostics);
}

}  // namespace bench::document
