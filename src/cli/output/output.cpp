#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/core.h>
#include <stdio.h>
#include <unistd.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/base/time.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/cli/output/console.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/results/table.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::cli {
namespace {

constexpr std::size_t box_width = 70;
const std::string rule(box_width, '#');

/// The words of each line of `text` in lines that fit the box behind `# `.
std::vector<std::string> wrapped(const std::string& text) {
  std::vector<std::string> lines;
  for (const std::string& paragraph : split(text, "\n")) {
    std::string line;
    for (const std::string& word : split_names(paragraph, " ")) {
      if (!line.empty() && display_width(line) + 1 + display_width(word) > box_width - 2) {
        lines.push_back(line);
        line.clear();
      }
      line += (line.empty() ? "" : " ") + word;
    }
    lines.push_back(line);
  }
  return lines;
}

/// A terminal obeys control characters, and names and outputs may be anybody's; a file or a pipe
/// gets every byte.
void write_text(std::string_view text, int fd) {
  if (::isatty(fd) == 1)
    console().write(fd, with_visible_controls(text));
  else
    console().write(fd, text);
}

/// The same of bench's own words, which may have colours.
void write_told(const std::string& text, int fd) {
  console().write(
      fd, with_coloured_severities(::isatty(fd) == 1 ? with_visible_controls(text) : text, fd));
}

}  // namespace

void print(const std::string& text) {
  write_text(text, STDOUT_FILENO);
}

void print_file(const UniqueFd& fd, const std::filesystem::path& file) {
  read_pieces(fd, file, [](std::string_view piece) { write_text(piece, STDOUT_FILENO); });
}

void print_run_state(insight::RunState state) {
  using insight::RunState;
  const Colour colour = state == RunState::failed     ? Colour::red
                        : state == RunState::finished ? Colour::green
                                                      : Colour::yellow;
  console().write(STDOUT_FILENO,
                  coloured(std::string(name_of(state)), colour, STDOUT_FILENO) + "\n");
}

void write_output(const std::filesystem::path& file, const std::string& text) {
  std::error_code unknown;
  if (std::filesystem::exists(file, unknown) && !std::filesystem::is_regular_file(file, unknown))
    throw Error(Id::unusable_file, fmt::format("{} is not a regular file", file.string()),
                "without --output it is printed to standard output");
  write_file_atomically(std::filesystem::weakly_canonical(file), text);
}

void move_cursor(const std::string& sequence) {
  console().write(STDOUT_FILENO, sequence);
}

void tell(const std::string& line, Level level) {
  write_told(line + "\n", STDERR_FILENO);
  command_log().add_told(level, line);
}

namespace {

std::string& current_advice() {
  static std::string text;
  return text;
}

}  // namespace

void advise_update(const space::Run& run) {
  if (run.metadata.input_file.empty())
    return;
  const std::string file = shell_quote(short_path(run.metadata.input_file));
  current_advice() =
      fmt::format("hint: once {} is corrected: bench result {} -u {}", file, target_of(run), file);
}

void end_advice() {
  current_advice().clear();
}

void tell_advice(bool has_place) {
  if (has_place && !current_advice().empty())
    tell(std::exchange(current_advice(), ""));
}

void tell_errors(const std::vector<Error>& errors, const std::string& run) {
  const std::string prefix = run.empty() ? "" : run + ": ";
  for (const Error& error : errors)
    tell(render(Error(error.id(), prefix + error.message(), error.hint(), error.place())),
         Level::error);
  tell_advice(
      std::ranges::any_of(errors, [](const Error& error) { return error.place().known(); }));
}

void show_log_lines(const std::string& lines) {
  write_text(lines, STDERR_FILENO);
}

namespace {

/// Tells the first warnings of many: what a program wrote may have more than anybody reads.
class FirstWarnings {
 public:
  void tell_next(const Warning& warning) {
    constexpr int most_told = 100;
    if (++told_ <= most_told)
      tell(render(warning.is_note ? Severity::note : Severity::warning, warning.message,
                  warning.hint, warning.place),
           warning.is_note ? Level::info : Level::warning);
    else if (told_ == most_told + 1)
      tell(fmt::format("warning: only the first {} warnings are shown", most_told), Level::warning);
  }

 private:
  int told_ = 0;
};

}  // namespace

Diagnostics telling_diagnostics(bool strict, bool refuses_mistakes) {
  return Diagnostics(
      strict,
      [first = FirstWarnings()](const Warning& warning) mutable { first.tell_next(warning); },
      refuses_mistakes);
}

void tell_again(const std::vector<Warning>& mistakes) {
  FirstWarnings first;
  for (const Warning& mistake : mistakes)
    first.tell_next(mistake);
}

std::string heading(const space::Run& run) {
  std::string text =
      fmt::format("{}\n# benchmark: {}\n# id: {}\n", rule, run.benchmark.name, run.directory.id);
  if (const std::string& comment = run.metadata.comment; !comment.empty()) {
    text += "#\n";
    for (const std::string& line : wrapped(comment))
      text += line.empty() ? "#\n" : "# " + line + "\n";
  }
  return text + rule + "\n\n";
}

namespace {

results::Table table_of(const std::vector<std::string>& headings,
                        const std::vector<std::vector<std::string>>& rows) {
  results::Table table;
  for (const std::string& title : headings)
    table.headings.push_back({.title = title});
  for (const auto& row : rows) {
    auto& cells = table.rows.emplace_back();
    for (const std::string& text : row)
      cells.push_back({.value = text});
  }
  return table;
}

/// A result table begins with its name; these have none.
std::string drawn(const results::Table& table) {
  const std::string text = results::render(table, "pretty");
  return text.substr(text.find('\n') + 1);
}

}  // namespace

std::string text_table(const std::vector<std::string>& headings,
                       const std::vector<std::vector<std::string>>& rows) {
  const results::Table table = table_of(headings, rows);
  const auto columns = terminal_columns();
  if (!columns || rows.empty() || results::pretty_width(table) <= *columns)
    return drawn(table);
  return results::render_vertical(table) + "(wider than this terminal: one line per cell)\n";
}

void check_step(const space::Run& run, const std::string& step) {
  if (run.benchmark.step(step))
    return;
  std::vector<std::string> known;
  for (const model::Step& one : run.benchmark.steps)
    known.push_back(one.name);
  throw Error(Id::unknown_name, fmt::format("run {} has no step '{}'", run.directory.id, step),
              suggestion(step, known, "its steps: "));
}

std::string status_table(const std::vector<workspace::StepCounts>& counts) {
  const auto all_rows = workspace::table_of(counts);
  const std::vector<std::string>& headings = all_rows.front();
  const std::vector<std::vector<std::string>> rows(all_rows.begin() + 1, all_rows.end());
  // Always drawn, not turned: `status --watch` counts its lines.
  const std::string table = drawn(table_of(headings, rows));
  return "  " + hanging(std::string(strip(table)), 2) + "\n";
}

std::string hanging(const std::string& text, std::size_t indent) {
  std::vector<std::string> lines = split(text, "\n");
  for (std::size_t k = 1; k < lines.size(); ++k)
    if (!lines[k].empty())
      lines[k].insert(0, indent, ' ');
  return join(lines, "\n");
}

std::string aligned_lines(const std::vector<std::vector<std::string>>& rows,
                          const std::string& indent) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows)
    for (std::size_t k = 0; k < row.size(); ++k) {
      widths.resize(std::max(widths.size(), k + 1));
      widths[k] = std::max(widths[k], display_width(row[k]));
    }
  std::string text;
  for (const auto& row : rows) {
    std::string line = indent;
    for (std::size_t k = 0; k + 1 < row.size(); ++k)
      line += row[k] + std::string(widths[k] + 2 - display_width(row[k]), ' ');
    text += line + (row.empty() ? "" : row.back()) + "\n";
  }
  return text;
}

std::string parameters_text(const workspace::Parameters& parameters) {
  std::vector<std::string> texts;
  for (const auto& [name, value] : parameters)
    texts.push_back(fmt::format("{}={}", name, value));
  return join(texts, " ");
}

std::string in_one_line(const std::string& text) {
  constexpr std::size_t most = 60;
  if (text.empty())
    return "-";
  const std::string line = replace_all(text, "\n", " ");
  return display_width(line) <= most ? line : to_valid_utf8(line.substr(0, most - 2)) + "..";
}

std::string short_path(const std::filesystem::path& path) {
  std::error_code is_deleted;
  const std::string relative =
      path.lexically_relative(std::filesystem::current_path(is_deleted)).string();
  if (relative.empty() || relative.starts_with(".."))
    return path.string();
  return relative.starts_with("-") ? "./" + relative : relative;  // not an option of a command
}

std::string target_of(const space::Run& run) {
  return fmt::format("{} --id {}", shell_quote(short_path(run.directory.path.parent_path())),
                     run.directory.id);
}

std::string repeat_command(const space::Run& run) {
  return fmt::format("bench continue {} --failed{}", target_of(run),
                     space::input_state(run) == space::InputState::changed
                         ? " -u " + shell_quote(short_path(run.metadata.input_file))
                         : "");
}

std::string closing(const space::Run& run, bool finished, long long first_failed) {
  const std::string outpath = short_path(run.directory.path.parent_path());
  const std::string target = target_of(run);
  std::string text = fmt::format(
      ">>>> Run and its follow-up commands\n"
      ">>>>       id: {}\n>>>>   handle: {}\n>>>>      dir: {}\n",
      run.directory.id, outpath, short_path(run.directory.path));
  if (!finished)
    text += fmt::format(">>>> continue: bench continue {}\n", target);
  if (first_failed >= 0)
    text +=
        fmt::format(">>>>      why: bench why {} {}\n>>>>    again: {}\n",
                    shell_quote(short_path(run.directory.path)), first_failed, repeat_command(run));
  for (const char* command : {" analyse", "  result", "    info", "     log"})
    text += fmt::format(">>>> {}: bench {} {}\n", command, strip(command), target);
  return text + rule + "\n";
}

namespace {

const char* word_of(Level level) {
  constexpr std::array<const char*, 3> words{"INFO", "WARNING", "ERROR"};
  return words[static_cast<std::size_t>(level)];
}

/// Every line of the text with the time and the level in front.
std::string log_lines(Level level, std::string_view text) {
  const auto now = std::chrono::system_clock::now();
  const auto since_1970 =
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch());
  const std::string head =
      fmt::format("[{},{:03}]:{}: ", local_time(now), since_1970.count() % 1000, word_of(level));
  std::string lines;
  for (const std::string& line : split(text, "\n"))
    lines += head + line + "\n";
  return lines;
}

void append(const UniqueFd& file, std::string_view text) {
  while (file.valid() && !text.empty()) {
    const ssize_t written = ::write(file.get(), text.data(), text.size());
    if (written <= 0)
      return;  // a full disk costs the log, not the run
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

UniqueFd open_log(const std::filesystem::path& run_directory, const std::string& name) {
  const std::filesystem::path file = run_directory / (name + ".log");
  // Neither through a link nor into a pipe, which would wait for a reader.
  return UniqueFd(::open(
      file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666));
}

}  // namespace

void CommandLog::set_command(const std::vector<std::string>& arguments) {
  std::vector<std::string> words{"bench"};
  for (const std::string& argument : arguments)
    words.push_back(shell_quote(argument));
  command_ = replace_all(join(words, " "), "\n", " ");
}

void CommandLog::begin_parsing(std::string earlier) {
  close(0);
  parsing_ = true;
  parsed_ = earlier.empty() ? log_lines(Level::info, "command: " + command_) : std::move(earlier);
}

void CommandLog::write_parse_log(const std::filesystem::path& run_directory) {
  append(open_log(run_directory, "parse"), parsed_);
}

void CommandLog::open(const std::filesystem::path& run_directory, const std::string& name) {
  close(0);
  parsing_ = false;
  file_ = open_log(run_directory, name);
  opened_ = Clock::now();
  add(Level::info, "command: " + command_);
}

void CommandLog::add(Level level, std::string_view text) {
  add_told(level, text);
  if (verbose_)
    show_log_lines(log_lines(level, text));
}

void CommandLog::add_told(Level level, std::string_view text) {
  if (parsing_)
    parsed_ += log_lines(level, text);
  else
    append(file_, log_lines(level, text));
}

void CommandLog::close(int exit_code) {
  if (!file_.valid())
    return;
  const double seconds = std::chrono::duration<double>(Clock::now() - opened_).count();
  add(exit_code == 0 ? Level::info : Level::error,
      fmt::format("end: exit code {}, after {}", exit_code, human_duration(seconds)));
  file_ = UniqueFd();
}

CommandLog& command_log() {
  static CommandLog log;
  return log;
}

const std::vector<std::string>& log_names() {
  static const std::vector<std::string> names{"parse", "run", "continue", "analyse", "result"};
  return names;
}

}  // namespace bench::cli
