#include "command.hpp"
#include "output.hpp"

#include <memory>

#include <bench/workspace/workspace.hpp>

namespace bench::cli {

std::function<int()> declare_status(CLI::App& app) {
  using workspace::Workspace;
  const auto choice = std::make_shared<RunChoice>();
  choice->declare(app);
  return [choice] {
    for (const workspace::RunDirectory& run : choice->runs())
      print(status_word(Workspace::open(run.path, Workspace::Access::read).counts()) + "\n");
    return 0;
  };
}

}  // namespace bench::cli
