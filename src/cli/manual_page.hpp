#pragma once

#include <string>
#include <utility>
#include <vector>

namespace bench::cli {

/// A page of section 1 of the manual, as plain text.
struct ManualPage {
  struct Section {
    std::string heading;  ///< In capitals, as on all pages.
    std::string text = {};
    std::vector<std::pair<std::string, std::string>> entries = {};  ///< Terms and what they mean.
    std::string verbatim = {};                                      ///< Lines, as they are.
  };
  std::string name;  ///< `bench-run`
  std::string summary;
  std::vector<Section> sections;
};

/// The page in roff, with the macros of man(7). The same for the same page: it has no date.
std::string roff_of(const ManualPage& page, const std::string& version);

/// The page of `bench-energy`.
ManualPage meter_manual();

}  // namespace bench::cli
