#include <algorithm>
#include <string>

#include <bench/base/process.hpp>
#include <bench/machine/environment.hpp>
#include <bench/machine/platform.hpp>
#include <bench/space/script_environment.hpp>

namespace bench::job {

Environment script_environment() {
  Environment environment = execute::base_environment();
  const auto own = std::ranges::find(environment, "BASH_ENV", &Environment::value_type::first);
  const std::string file = own == environment.end() ? "" : own->second;
  const auto quiet = platform::data_directory() / "templates" / "bash_env.sh";
  if (file.empty() || file == quiet)  // a bench in a job script of another one has it already
    return environment;
  set_variable(environment, "BENCH_BASH_ENV", file);
  set_variable(environment, "BASH_ENV", quiet.string());
  return environment;
}

}  // namespace bench::job
