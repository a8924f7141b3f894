#include <string>
#include <vector>

#include <bench/base/error.hpp>
#include <bench/energy/settings/setting.hpp>

namespace bench::energy {

void set_all(Settings& settings) {
  for (auto setting = settings.begin(); setting != settings.end(); ++setting) {
    try {
      (*setting)->set();
    } catch (const Error&) {
      settings.erase(setting + 1, settings.end());  // it may have been set before it was read back
      restore_all(settings);
      throw;
    }
  }
}

std::vector<std::string> restore_all(Settings& settings) {
  std::vector<std::string> failures;
  for (; !settings.empty(); settings.pop_back()) {
    try {
      settings.back()->restore();
    } catch (const Error& failure) {
      failures.push_back(failure.message());
    }
  }
  return failures;
}

}  // namespace bench::energy
