#include "command.hpp"
#include "output.hpp"

#include <bench/language/schema.hpp>

namespace bench::cli {

std::function<int()> declare_schema(CLI::App&) {
  return [] {
    print(language::schema() + "\n");
    return 0;
  };
}

}  // namespace bench::cli
