#include "command.hpp"
#include "output.hpp"

#include <bench/document/read.hpp>

namespace bench::cli {

std::function<int()> declare_schema(CLI::App&) {
  return [] {
    print(document::schema() + "\n");
    return 0;
  };
}

}  // namespace bench::cli
