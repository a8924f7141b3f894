#include "command.hpp"

#include "read.hpp"

#include <fmt/core.h>

#include <bench/base/text.hpp>

namespace bench::model {
namespace {

bool is_shared(const document::Node& node) {
  const std::string word = to_lower(attribute(node, "shared", "false"));
  if (word != "true" && word != "false")
    throw Error(fmt::format("shared is true or false, not '{}'", node.get("shared")),
                "a step's `shared` names the directory", place_of(node, "shared"));
  return word == "true";
}

}  // namespace

Command build_command(const document::Node& node) {
  Command command;
  command.text = strip(node.text);
  command.active = attribute(node, "active", "true");
  command.stdout_file = attribute(node, "stdout", "stdout");
  command.stderr_file = attribute(node, "stderr", "stderr");
  command.work_dir = attribute(node, "work_dir");
  command.done_file = attribute(node, "done_file");
  command.error_file = attribute(node, "error_file");
  command.break_file = attribute(node, "break_file");
  command.shared = is_shared(node);
  command.place = node.text_place;
  return command;
}

}  // namespace bench::model
