#pragma once

#include "run_content.hpp"

#include <cstddef>
#include <string>
#include <vector>

#include <bench/pages/site.hpp>
#include <bench/results/table.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::serve {

/// Selects the workpackages of a run that a page shows.
struct Selection {
  std::string state;  ///< Empty: any.
  std::size_t from = 0;

  explicit Selection(const PageRequest& request);

  static constexpr std::size_t rows_per_page = 200;
};

/// Positions of the shown workpackages, ascending.
struct Selected {
  std::vector<std::size_t> positions;
  std::size_t all = 0;  ///< Including other pages.
};

Selected selected(const std::vector<workspace::Workpackage>& workpackages,
                  const Selection& selection);

/// A value formatted for people, shortened if it is long; `n/a` with the reason if it is missing.
std::string cell_html(const result::Cell& cell);

/// A row for each selected workpackage: state, parameters, results, energies.
/// @param run_name for links
std::string workpackage_table(const RunContent& content, const std::string& run_name,
                              const Selected& shown);

}  // namespace bench::serve
