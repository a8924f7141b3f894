#pragma once

#include <string>
#include <vector>

#include <bench/export/formats/formats.hpp>
#include <bench/result/table.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::formats {

/// The parameters that differ among the workpackages of a step, and the iteration where there are
/// several, for each workpackage: what tells it from the others of its step. Texts as `size=1`.
std::vector<std::vector<std::string>> distinctions(const Subject& subject);

/// The unit as a part of a name: `GB_per_s` of `GB/s`, `percent` of `%`.
std::string unit_word(const std::string& unit);
/// A name with its unit at the end, unless it ends with it already.
std::string name_with_unit(const std::string& name, const std::string& unit);

/// A column of the tidy table with numbers: what was found, measured, and how long it took.
struct NumberColumn {
  std::size_t index = 0;
  const result::Heading* heading = nullptr;
};
std::vector<NumberColumn> number_columns(const Subject& subject);

/// The latest attempts by the position of their workpackage; null where there is none.
std::vector<const workspace::Attempt*> attempts_by_row(const Subject& subject);

}  // namespace bench::formats
