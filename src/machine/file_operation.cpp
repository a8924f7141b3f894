#include <cerrno>
#include <cstddef>
#include <ctime>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/outage.hpp>
#include <bench/base/process.hpp>
#include <bench/base/text.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/machine/environment.hpp>
#include <bench/machine/file_operation.hpp>

namespace bench::machine {
namespace {

namespace fs = std::filesystem;

/// If part of a path that only bench creates is missing, the file system is at fault.
[[noreturn]] void fail(const std::string& message, int error_number) {
  const Error error = Error::of_system(message, error_number);
  if (error_number == ENOENT)
    throw MachineError(Id::system_error, error.message());
  throw error;
}

/// @returns true if it did not exist
bool make_one(const fs::path& directory) {
  if (::mkdir(directory.c_str(), 0777) == 0)
    return true;
  if (errno != EEXIST)
    fail(fmt::format("cannot create directory {}", directory.string()), errno);
  return false;
}

/// Clears the directory only if it exists already: there may be 100,000 of them.
void make_empty(const fs::path& directory) {
  if (make_one(directory))
    return;
  std::error_code failure;
  fs::remove_all(directory, failure);
  if (failure)
    fail(fmt::format("cannot remove {} of an interrupted attempt", directory.string()),
         failure.value());
  make_one(directory);
}

/// Moves the directory of a failed attempt out of the way of the next one.
void set_aside(const MakeDirectory& operation) {
  const fs::path& directory = operation.directory;
  const fs::path& kept = operation.set_aside_as;
  std::error_code failure;
  if (!fs::exists(directory, failure) || fs::exists(kept, failure))
    return;
  refuse_link_out(operation.run, kept.parent_path());
  make_directories(kept.parent_path());
  fs::rename(directory, kept, failure);
  if (failure)
    fail(fmt::format("cannot move {} to {}", directory.string(), kept.string()), failure.value());
}

/// Deletes nothing: the directory is the user's, and so may be what the file holds.
void rename_output(const fs::path& file) {
  std::error_code failure;
  if (!fs::is_regular_file(fs::symlink_status(file, failure)))
    return;
  fs::path kept;
  for (int number = 1; kept.empty() || is_taken(kept); ++number)
    kept = fmt::format("{}.{}", file.string(), number);
  fs::rename(file, kept, failure);
  if (failure)
    fail(fmt::format("cannot move {} to {}", file.string(), kept.string()), failure.value());
}

/// Relative links survive a move of the run.
void link(const fs::path& target, const fs::path& name) {
  std::error_code failure;
  fs::create_symlink(target, name, failure);
  if (failure)
    fail(fmt::format("cannot link {}", name.string()), failure.value());
}

void perform_one(const MakeDirectory& operation, const Environment&, evaluate::Evaluator&) {
  if (!operation.set_aside_as.empty())
    set_aside(operation);
  make_empty(operation.directory);
  const fs::path work = operation.directory / "work";
  make_one(work);
  if (!operation.shared.empty()) {
    refuse_link_out(operation.run, operation.shared);
    make_directories(operation.shared);
  }
  for (const auto& [target, name] : operation.links)
    link(target, name);
  if (operation.work != work)
    make_directories(operation.work);
  for (const fs::path& file : operation.outputs)
    rename_output(file);
}

/// Expands `~` and `$NAME`.
std::string concrete(const std::string& text, const Environment& environment) {
  return expand_user_and_environment(text, [&](const std::string& name) -> const char* {
    for (const auto& [known, value] : environment)
      if (known == name)
        return value.c_str();
    return nullptr;
  });
}

[[noreturn]] void refuse(const PlaceFiles& entry, const fs::path& source, const fs::path& target,
                         const std::error_code& failure) {
  throw Error::of_system(
      fmt::format("cannot {} {} to {}", entry.action == PlaceFiles::Action::copy ? "copy" : "link",
                  source.string(), target.string()),
      failure.value(), "", entry.place);
}

/// Gives the copy the times of its source. Best effort: nothing depends on them.
void keep_times(const fs::path& source, const fs::path& target) {
  struct stat status {};
  if (::lstat(source.c_str(), &status) != 0)
    return;
  const struct timespec times[2] = {status.st_atim, status.st_mtim};
  ::utimensat(AT_FDCWD, target.c_str(), times, AT_SYMLINK_NOFOLLOW);
}

/// Keeps modes, times and the links in a directory. A directory gets its mode when it is complete,
/// since nothing can be written into one that is read-only.
void copy_tree(const fs::path& source, const fs::path& target, std::error_code& failure) {
  const fs::file_status status = fs::symlink_status(source, failure);
  if (failure)
    return;
  if (fs::is_directory(status)) {
    fs::create_directory(target, failure);
    for (fs::directory_iterator entry(source, failure); !failure && entry != fs::end(entry);
         entry.increment(failure)) {
      copy_tree(entry->path(), target / entry->path().filename(), failure);
      if (failure)
        return;
    }
    if (!failure)
      fs::permissions(target, status.permissions(), failure);
  } else {
    fs::copy(source, target, fs::copy_options::copy_symlinks, failure);
  }
  if (!failure)
    keep_times(source, target);
}

/// What a killed bench left of a copy.
void remove_draft(const fs::path& draft, std::error_code& failure) {
  std::error_code ignored;
  for (fs::recursive_directory_iterator entry(draft, ignored); entry != fs::end(entry);
       entry.increment(ignored))
    if (entry->is_directory(ignored) && !entry->is_symlink(ignored))
      fs::permissions(entry->path(), fs::perms::owner_all, fs::perm_options::add, ignored);
  fs::remove_all(draft, failure);
}

void copy(const PlaceFiles& entry, const fs::path& named, const fs::path& target) {
  // A link that is named stands for what it leads to: commands that write into their copy must not
  // write into the source.
  std::error_code failure;
  const fs::path source = fs::canonical(named, failure);
  if (failure == std::errc::no_such_file_or_directory)
    throw Error(
        Id::missing_file,
        fmt::format("cannot copy {}: it is a link to a file that does not exist", named.string()),
        "", entry.place);
  if (failure)
    refuse(entry, named, target, failure);
  if (is_written_below(source, fs::weakly_canonical(target, failure)))
    throw Error(Id::conflict,
                fmt::format("cannot copy {} to {}: the copy would contain itself", named.string(),
                            target.string()),
                "the outpath is in that directory; copy the files that are needed by name",
                entry.place);
  // The final name never holds half a copy, which the next try would take for a whole one.
  const fs::path draft = target.string() + ".copying";
  remove_draft(draft, failure);
  if (!failure)
    copy_tree(source, draft, failure);
  if (!failure)
    fs::rename(draft, target, failure);
  if (failure)
    refuse(entry, named, target, failure);
}

void link(const PlaceFiles& entry, const fs::path& source, const fs::path& target, bool absolute) {
  std::error_code failure;
  // Resolve links on the way, or the relative path would start somewhere else.
  const fs::path from = fs::weakly_canonical(target.parent_path(), failure);
  const fs::path to = absolute ? source : source.lexically_relative(from);
  fs::create_symlink(to, target, failure);
  if (failure)
    refuse(entry, source, target, failure);
}

void perform_one(const PlaceFiles& entry, const Environment& environment, evaluate::Evaluator&) {
  const fs::path target_dir = entry.work / concrete(entry.target_dir, environment);
  refuse_link_out(entry.run, target_dir);
  make_directories(target_dir);
  for (std::size_t k = 0; k < entry.paths.size(); ++k) {
    const fs::path named =
        fs::path(concrete(entry.source_dir, environment)) / concrete(entry.paths[k], environment);
    const auto sources = files_matching(entry.base, named);
    if (sources.empty())
      throw Error(Id::missing_file, fmt::format("no file matches '{}'", named.string()),
                  fmt::format("looked in {}", entry.base.string()), entry.place);
    for (const fs::path& source : sources) {
      const bool renamed = sources.size() == 1 && k < entry.names.size();
      // `data/` names the directory, not what is in it.
      const fs::path own = source.has_filename() ? source : source.parent_path();
      const fs::path target =
          target_dir / (renamed ? fs::path(concrete(entry.names[k], environment)) : own.filename());
      if (is_taken(target))
        continue;
      refuse_link_out(entry.run, target);
      make_directories(target.parent_path());  // a new name may have one
      if (entry.action == PlaceFiles::Action::copy)
        copy(entry, own, target);
      else
        link(entry, own, target, named.is_absolute());
    }
  }
}

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

void perform_one(const SubstituteFile& operation, const Environment&,
                 evaluate::Evaluator& evaluator) {
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

void perform_one(const KeepBaseEnvironment& operation, const Environment&, evaluate::Evaluator&) {
  keep_base(operation.directory);
}

void perform_one(const LogCommand& operation, const Environment& environment,
                 evaluate::Evaluator&) {
  make_directories(operation.file.parent_path());
  const char* first_line = is_there(operation.file) ? "" : "#!/bin/sh\n";
  write_all(open_to_write(operation.run, operation.file, O_APPEND),
            first_line + shell_commands(changes_of(environment)) + operation.command,
            operation.file);
}

}  // namespace

void perform(const FileOperation& operation, const Environment& environment,
             evaluate::Evaluator& evaluator) {
  std::visit([&](const auto& one) { perform_one(one, environment, evaluator); }, operation);
}

}  // namespace bench::machine
