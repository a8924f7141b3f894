#include "file_operations.hpp"

#include <string>
#include <variant>

#include <fcntl.h>

#include <bench/base/below.hpp>
#include <bench/base/files.hpp>
#include <bench/base/process.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/machine/environment.hpp>
#include <bench/machine/file_operation.hpp>

namespace bench::execute {
namespace {

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;  // Clang 14 needs it

}  // namespace

void log_command(const LogCommand& operation, const Environment& environment) {
  make_directories(operation.file.parent_path());
  const char* first_line = is_there(operation.file) ? "" : "#!/bin/sh\n";
  write_all(open_to_write(operation.run, operation.file, O_APPEND),
            first_line + shell_commands(changes_of(environment)) + operation.command,
            operation.file);
}

void perform(const FileOperation& operation, const Environment& environment,
             evaluate::Evaluator& evaluator) {
  std::visit(Overloaded{[](const MakeDirectory& one) { make_directory(one); },
                        [&](const PlaceFiles& one) { place_files(one, environment); },
                        [&](const SubstituteFile& one) { substitute_file(one, evaluator); },
                        [](const KeepBaseEnvironment& one) { keep_base(one.directory); },
                        [&](const LogCommand& one) { log_command(one, environment); }},
             operation);
}

}  // namespace bench::execute
