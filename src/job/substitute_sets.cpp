#include "substitute_sets.hpp"

#include <fmt/core.h>

#include <bench/base/below.hpp>
#include <bench/base/files.hpp>
#include <bench/base/text.hpp>

namespace bench::job {
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
std::string substitute_regex(const model::Substitution& substitution, const std::string& source,
                             const std::string& dest, const std::string& text,
                             const RenderContext& context) {
  if (to_valid_utf8(text) != text)
    throw Error("the file is not UTF-8 text; a substitution by regular expression needs that", "",
                substitution.place);
  const std::vector<evaluate::Request> requests{
      {evaluate::Mode::python, fmt::format("re.sub({}, {}, {})", python_literal(source),
                                           python_literal(dest), python_literal(text))}};
  const auto outcome = context.evaluator.evaluate(requests).front();
  if (!outcome.ok)
    throw Error(fmt::format("substitution of '{}': {}", source, outcome.error), "",
                substitution.place);
  return outcome.value;
}

std::string substituted(const model::SubstituteSet& set, std::string text,
                        const RenderContext& context) {
  for (const model::Substitution& substitution : set.substitutions) {
    const std::string source = context.substitute(substitution.source);
    const std::string dest = context.substitute(substitution.dest);
    if (substitution.regex)
      text = substitute_regex(substitution, source, dest, text, context);
    else if (!source.empty())
      text = replace_all(std::move(text), source, dest);
  }
  return text;
}

}  // namespace

void substitute_file(const model::SubstituteSet& set, const model::SubstitutedFile& file,
                     const RenderContext& context) {
  const fs::path in = context.work() / context.file_name(file.in);
  const fs::path out = context.work() / context.file_name(file.out);
  std::error_code failure;
  // Asked first: the output may take the place of the input.
  const fs::file_status status = is_there(in) ? fs::status(in, failure) : fs::file_status();
  if (!fs::is_regular_file(status))
    throw Error(fmt::format("cannot substitute in {}: it does not exist", in.string()),
                "add a file set that copies it there", file.place);
  const std::string text = substituted(set, read_file(in), context);
  // A link under the name of the output is replaced, but what is appended goes through it.
  refuse_link_out(context.run.directory.path, file.append ? out : out.parent_path());
  if (file.append)
    append_to_file(out, text);
  else
    write_file_atomically(out, text);
  fs::permissions(out, status.permissions(), failure);
  if (failure)
    throw Error::of_system(fmt::format("cannot set the mode of {}", out.string()), failure.value(),
                           "", file.place);
}

}  // namespace bench::job
