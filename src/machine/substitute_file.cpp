#include "file_operations.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/below.hpp>
#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/machine/file_operation.hpp>

namespace bench::execute {
namespace {

namespace fs = std::filesystem;

/// `text` as a string literal of Python.
std::string python_literal(std::string_view text) {
  std::string literal = "'";
  for (const char c : text)
    if (c == '\\' || c == '\'')
      literal.append(1, '\\').append(1, c);
    else if (c == '\n')
      literal += "\\n";
    else if (static_cast<unsigned char>(c) < 0x20)
      literal += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else
      literal += c;
  return literal + "'";
}

/// Python's own `re.sub`: the expressions and replacement texts that users write are Python's.
std::string substitute_regex(const Replacement& replacement, const std::string& text,
                             evaluate::Evaluator& evaluator) {
  if (to_valid_utf8(text) != text)
    throw Error(Id::unusable_file,
                "the file is not UTF-8 text; a substitution by regular expression needs that", "",
                replacement.place);
  const std::vector<evaluate::Request> requests{
      {evaluate::Mode::python,
       fmt::format("re.sub({}, {}, {})", python_literal(replacement.source),
                   python_literal(replacement.dest), python_literal(text))}};
  const auto outcome = evaluator.evaluate(requests).front();
  if (!outcome.ok)
    throw Error(Id::invalid_expression,
                fmt::format("substitution of '{}': {}", replacement.source, outcome.error), "",
                replacement.place);
  return outcome.value;
}

std::string substituted(const std::vector<Replacement>& replacements, std::string text,
                        evaluate::Evaluator& evaluator) {
  for (const Replacement& replacement : replacements)
    if (replacement.regex)
      text = substitute_regex(replacement, text, evaluator);
    else if (!replacement.source.empty())
      text = replace_all(std::move(text), replacement.source, replacement.dest);
  return text;
}

}  // namespace

void substitute_file(const SubstituteFile& operation, evaluate::Evaluator& evaluator) {
  const fs::path& in = operation.in;
  const fs::path& out = operation.out;
  std::error_code failure;
  // Read before writing: the output may replace the input.
  const fs::file_status status = is_there(in) ? fs::status(in, failure) : fs::file_status();
  if (!fs::is_regular_file(status))
    throw Error(Id::missing_file,
                fmt::format("cannot substitute in {}: it does not exist", in.string()),
                "add a file set that copies it there", operation.place);
  const std::string text = substituted(operation.replacements, read_file(in), evaluator);
  // Writing replaces a link with the name of the output; appending follows it.
  refuse_link_out(operation.run, operation.append ? out : out.parent_path());
  if (operation.append)
    append_to_file(out, text);
  else
    write_file_atomically(out, text);
  fs::permissions(out, status.permissions(), failure);
  if (failure)
    throw Error::of_system(fmt::format("cannot set the mode of {}", out.string()), failure.value(),
                           "", operation.place);
}

}  // namespace bench::execute
