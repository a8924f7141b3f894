#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>

namespace bench {

void Diagnostics::warn(std::string message, std::string hint, Place place) {
  if (strict_)
    throw Error(message, hint, place);
  keep({std::move(message), std::move(hint), std::move(place)}, warnings_);
}

void Diagnostics::note(std::string message, std::string hint, Place place) {
  keep({std::move(message), std::move(hint), std::move(place), true}, notes_);
}

void Diagnostics::keep(Warning warning, std::vector<Warning>& kept) {
  if (std::find(kept.begin(), kept.end(), warning) != kept.end())
    return;
  if (tell_)
    tell_(warning);
  kept.push_back(std::move(warning));
}

}  // namespace bench
