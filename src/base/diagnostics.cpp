#include <algorithm>

#include <bench/base/diagnostics.hpp>

namespace bench {

void Diagnostics::warn(std::string message, std::string hint, Place place) {
  if (strict_)
    throw Error(message, hint, place);
  Warning warning{std::move(message), std::move(hint), std::move(place)};
  if (std::find(warnings_.begin(), warnings_.end(), warning) != warnings_.end())
    return;
  if (tell_)
    tell_(warning);
  warnings_.push_back(std::move(warning));
}

}  // namespace bench
