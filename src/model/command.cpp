#include "command.hpp"

#include "read.hpp"

#include <bench/base/text.hpp>
#include <bench/document/node.hpp>
#include <bench/model/benchmark.hpp>

namespace bench::model {

Command build_command(const document::Node& node) {
  Command command;
  command.text = strip(node.text);
  command.active = attribute(node, "active");
  command.stdout_file = attribute(node, "stdout");
  command.stderr_file = attribute(node, "stderr");
  command.work_dir = attribute(node, "work_dir");
  command.done_file = attribute(node, "done_file");
  command.error_file = attribute(node, "error_file");
  command.break_file = attribute(node, "break_file");
  if (node.name == "do")
    command.shared = node.flag("shared", "`shared` of the step names the directory");
  command.place = node.text_place;
  return command;
}

}  // namespace bench::model
