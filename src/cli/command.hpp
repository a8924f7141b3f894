#pragma once

#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace bench::cli {

/// A command of `bench`: what the table in main.cpp lists.
struct Command {
  const char* name;
  const char* summary;
  const char* example;
  /// Declares the options and returns what runs once they are parsed; its result is the exit code.
  std::function<int()> (*declare)(CLI::App& app);
};

/// `[DIR]` and `-i`: which run a command is about.
struct RunChoice {
  std::string directory = ".";
  std::vector<std::string> ids;

  void declare(CLI::App& app);
};

std::function<int()> declare_run(CLI::App& app);
std::function<int()> declare_continue(CLI::App& app);
std::function<int()> declare_analyse(CLI::App& app);
std::function<int()> declare_result(CLI::App& app);
std::function<int()> declare_info(CLI::App& app);
std::function<int()> declare_status(CLI::App& app);

}  // namespace bench::cli
