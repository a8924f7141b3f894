#include "command.hpp"

#include <functional>

#include <bench/cli/output/output.hpp>
#include <bench/document/schema.hpp>

namespace bench::cli {

std::function<int()> declare_schema(CLI::App&) {
  return [] {
    print(language::schema() + "\n");
    return 0;
  };
}

}  // namespace bench::cli
