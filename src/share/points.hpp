#pragma once

#include <string>
#include <vector>

#include <bench/results/table.hpp>
#include <bench/share/formats.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::formats {

/// For each workpackage, what distinguishes it from the others of its step: the parameters that
/// vary, and the iteration if there are several. Texts such as `size=1`.
std::vector<std::vector<std::string>> distinctions(const Subject& subject);

/// The unit as a part of a name: `GB_per_s` for `GB/s`, `percent` for `%`.
std::string unit_word(const std::string& unit);
/// A name with its unit appended, unless it already ends with it.
std::string name_with_unit(const std::string& name, const std::string& unit);

/// A numeric column of the tidy table: results, measurements and run time.
struct NumberColumn {
  std::size_t index = 0;
  const result::Heading* heading = nullptr;
};
std::vector<NumberColumn> number_columns(const Subject& subject);

/// The latest attempt of each workpackage, by its position; null if there is none.
std::vector<const workspace::Attempt*> attempts_by_row(const Subject& subject);

}  // namespace bench::formats
