#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>

namespace bench {

void Diagnostics::warn(Id id, std::string message, std::string hint, Place place) {
  if (strict_)
    throw Error(id, message, hint, place);
  keep({id, std::move(message), std::move(hint), std::move(place)}, warnings_);
}

void Diagnostics::warn(const Warning& warning) {
  warn(warning.id, warning.message, warning.hint, warning.place);
}

void Diagnostics::note(Id id, std::string message, std::string hint, Place place) {
  keep({id, std::move(message), std::move(hint), std::move(place), true}, notes_);
}

void Diagnostics::mistake(Id id, std::string message, std::string hint, Place place) {
  if (refuses_mistakes_ && own_files_.contains(place.file))
    throw Error(id, message, hint, place);
  Warning warning{id, std::move(message), std::move(hint), std::move(place)};
  warn(warning);
  if (kept_mistakes_.insert(warning).second)
    mistakes_.push_back(std::move(warning));
}

void Diagnostics::unknown_name(std::string message, std::string near, std::string hint,
                               Place place) {
  if (near.empty())
    warn(Id::unknown_name, std::move(message), std::move(hint), std::move(place));
  else
    mistake(Id::unknown_name, std::move(message), std::move(near), std::move(place));
}

void Diagnostics::keep(Warning warning, std::vector<Warning>& kept) {
  if (!kept_.insert(warning).second)
    return;
  if (tell_)
    tell_(warning);
  kept.push_back(std::move(warning));
}

void Failures::attempt(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    const bool is_known = std::ranges::any_of(errors_, [&](const Error& known) {
      return known.message() == error.message() && known.place() == error.place();
    });
    if (!is_known)
      errors_.push_back(error);
  }
}

void attempt(Failures* failures, const std::function<void()>& action) {
  if (failures)
    failures->attempt(action);
  else
    action();
}

}  // namespace bench
