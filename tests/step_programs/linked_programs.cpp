#include "step_programs/linked_programs.hpp"

#include "harness/program.hpp"
#include "support/sanitizer.hpp"

#include <cstdio>
#include <iostream>
#include <map>
#include <stdexcept>
#include <utility>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wordexp.h>

#define BENCH_LINKED_PROGRAMS(apply)                                                     \
  apply(ap1) apply(ap2) apply(ap3) apply(ap4) apply(ap5) apply(ap6) apply(atmorep)       \
      apply(cosmoflow) apply(deepcam) apply(distributed_program) apply(gpt) apply(llama) \
          apply(sharded_model_program) apply(vision)

#define BENCH_DECLARE_MAIN(name)   \
  namespace bench::name {          \
  int main(int argc, char** argv); \
  }
BENCH_LINKED_PROGRAMS(BENCH_DECLARE_MAIN)

namespace bench::steps {
namespace {

#define BENCH_NAME_AND_MAIN(name) {#name, bench::name::main},
const std::map<std::string, ProgramMain> linked_programs = {
    BENCH_LINKED_PROGRAMS(BENCH_NAME_AND_MAIN)};

void redirect(int descriptor, const std::string& file) {
  constexpr int mode = 0600;
  const int opened = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
  if (opened < 0 || ::dup2(opened, descriptor) < 0)
    ::_exit(127);  // as a shell
}

/// Adds the words into which a shell divides a text.
/// @returns false for a text that has more than words
bool add_shell_words(const std::string& text, std::vector<std::string>& words) {
  wordexp_t found{};
  const bool only_words = ::wordexp(text.c_str(), &found, WRDE_NOCMD) == 0;
  if (only_words) {
    words.insert(words.end(), found.we_wordv, found.we_wordv + found.we_wordc);
    ::wordfree(&found);
  }
  return only_words;
}

/// What throws here must not return into the tests of this process.
[[noreturn]] void be_the_program(ProgramMain main, ProgramStart start) noexcept {
  redirect(STDOUT_FILENO, start.out);
  redirect(STDERR_FILENO, start.err);
  std::vector<char*> environment = pointers(start.environment);
  environ = environment.data();
  std::vector<char*> arguments = pointers(start.words);
  const int code = run_program(program_name(start.words.front()), [&] {
    return main(static_cast<int>(arguments.size()) - 1, arguments.data());
  });
  std::cout.flush();
  std::fflush(nullptr);
  ::_exit(code);  // without the 0.1 s in which LibTorch takes back what it registered
}

}  // namespace

ProgramMain linked_main(const std::string& program) {
  const auto found = linked_programs.find(program_name(program));
  return support::sanitized || found == linked_programs.end() ? nullptr : found->second;
}

pid_t start_linked(ProgramMain main, ProgramStart start) {
  std::cout.flush();
  std::fflush(nullptr);  // or the child would write it, too
  const pid_t child = ::fork();
  if (child < 0)
    throw std::runtime_error("cannot start " + start.words.front());
  if (child == 0)
    be_the_program(main, std::move(start));
  return child;
}

std::vector<std::string> own_environment() {
  std::vector<std::string> lines;
  for (char** line = environ; *line; ++line)
    lines.emplace_back(*line);
  return lines;
}

Outcome run_step(const std::string& program, const std::string& arguments,
                 const std::string& before) {
  const ProgramMain linked = linked_main(program);
  const Folder folder;
  ProgramStart start{{program}, own_environment(), folder.file("out"), folder.file("err")};
  if (!linked || !before.empty() || !add_shell_words(arguments, start.words))
    return run_in_shell(program, arguments, before);
  int status = 0;
  if (::waitpid(start_linked(linked, std::move(start)), &status, 0) < 0)
    throw std::runtime_error("cannot wait for " + program);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_text(folder.file("out")),
          read_text(folder.file("err"))};
}

}  // namespace bench::steps
