#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <bench/insight/doctor_checks.hpp>

namespace bench::cli {

/// A finding in columns: health, check and text, its remedy as a hint on the next line.
/// @param columns of the terminal, at which lines wrap; 0: no wrapping
std::string finding_text(const doctor::Finding& finding, std::size_t columns);

/// `19 ok, 1 warning, 0 errors`
std::string findings_summary(const std::vector<doctor::Finding>& findings);

}  // namespace bench::cli
