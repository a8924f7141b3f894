#include "command.hpp"
#include "interruption.hpp"

#include <functional>
#include <memory>
#include <string>

#include <fmt/core.h>

#include <bench/cli/output/output.hpp>
#include <bench/pages/server.hpp>
#include <bench/pages/site.hpp>

namespace bench::cli {

std::function<int()> declare_serve(CLI::App& app) {
  struct Options {
    std::string directory = ".";
    int port = 0;
  };
  const auto options = std::make_shared<Options>();
  app.add_option("DIR", options->directory,
                 "directory to search for runs, with its subdirectories; default: the current one");
  constexpr int highest_port = 65'535;
  app.add_option("-p,--port", options->port, "port to listen on; default: any free port")
      ->check(CLI::Range(0, highest_port));
  return [options] {
    const pages::Site site(options->directory);
    pages::Server server(site, options->port);
    const auto& interrupted = catch_interruptions();
    print(server.address() + "\n");
    tell("note: open this address in a browser on this machine; Ctrl-C stops the server");
    server.run_until(interrupted);
    return interruption_code();
  };
}

}  // namespace bench::cli
