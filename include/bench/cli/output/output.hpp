#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/insight/run_view.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::cli {

enum class Level { info, warning, error };

/// Text on standard output, for results. On a terminal control characters in it are shown, not
/// obeyed, here as in `tell`.
void print(const std::string& text);
/// A file on standard output, however long it is.
/// @param file its name, for the error
/// @throws Error if it cannot be read
void print_file(const UniqueFd& fd, const std::filesystem::path& file);
/// The word of `bench status`, in its color.
void print_run_state(insight::RunState state);
/// Replaces the file that `--output` names, or the one that a link of that name leads to.
/// @throws Error for a pipe or a device, which would be replaced, too
void write_output(const std::filesystem::path& file, const std::string& text);
/// A control sequence of bench's own for the terminal that is standard output.
void move_cursor(const std::string& sequence);
/// A line on standard error, for everything that is not the result; goes to the log, too.
void tell(const std::string& line, Level level = Level::info);
/// From here on an error in the input file is told with how to go on with this run once it is
/// corrected.
void advise_update(const space::Run& run);
void end_advice();
/// Tells what `advise_update` asked to tell, once.
/// @param has_place whether what was told has a place in the input file; else nothing is advised
void tell_advice(bool has_place);
/// Tells errors, and then the advice if one of them has a place.
/// @param run of several, the one that they are about
void tell_errors(const std::vector<Error>& errors, const std::string& run = "");
/// Lines of the log on standard error.
void show_log_lines(const std::string& lines);
/// Tells warnings as they come, the first hundred.
/// @param refuses_mistakes before a run, of which they would spoil the results
Diagnostics telling_diagnostics(bool strict = false, bool refuses_mistakes = false);
/// The mistakes that did not stop a run, once more below its tables.
void tell_again(const std::vector<Warning>& mistakes);

/// The box that a run begins with.
std::string heading(const space::Run& run);
/// @throws Error if the benchmark of the run has no such step
void check_step(const space::Run& run, const std::string& step);
/// The table of steps and how many of their workpackages are in each state, indented by two
/// columns. States that no workpackage is in have no column, but for `failed` and `done`.
std::string status_table(const std::vector<workspace::StepCounts>& counts);
/// The command that repeats the failed workpackages: with the recorded input, or with the file if
/// that has changed since.
std::string repeat_command(const space::Run& run);
/// The run as the arguments of a command: `DIR --id ID`.
std::string target_of(const space::Run& run);
/// Where the run is and what to do next.
/// @param first_failed a workpackage that failed; -1: none
std::string closing(const space::Run& run, bool finished, long long first_failed = -1);
/// Rows under headings, as `pretty` tables are drawn; with a line for each cell where standard
/// output is a terminal that is narrower.
std::string text_table(const std::vector<std::string>& headings,
                       const std::vector<std::vector<std::string>>& rows);
/// `n=1 word=fp16`: the parameters of a workpackage in one line.
std::string parameters_text(const workspace::Parameters& parameters);
/// Texts in columns, each as wide as its widest, two blanks between; the last is not padded.
std::string aligned_lines(const std::vector<std::vector<std::string>>& rows,
                          const std::string& indent = "");
/// `text` with every line but the first indented, unless it is empty.
std::string hanging(const std::string& text, std::size_t indent);
/// Items of a list in one cell, `-` for none; the first part of a long one, which json and csv have
/// as a whole.
std::string in_one_line(const std::string& text);

/// `/home/me/runs` as `runs` where that is shorter from here.
std::string short_path(const std::filesystem::path& path);

/// What one call of bench leaves in the log files of the runs that it works on: lines
/// `[YYYY-MM-DD HH:MM:SS,mmm]:LEVEL: text`, appended to `<run>/<command>.log`. Nothing is logged
/// where the user may not write, and a log that cannot be written never stops the work.
class CommandLog {
 public:
  /// The arguments of the call, for the first line of every log.
  void set_command(const std::vector<std::string>& arguments);
  /// Log on the console, too.
  void set_verbose() { verbose_ = true; }

  /// From here on lines are kept back: the input is being read, and has no run yet.
  /// @param earlier what `parsed` gave where this goes on with an input that was read before
  void begin_parsing(std::string earlier = "");
  /// The lines that were kept back.
  const std::string& parsed() const { return parsed_; }
  /// Writes `parse.log` of a run that came out of that; may be called for several.
  void write_parse_log(const std::filesystem::path& run_directory);

  /// Ends the log of another run, if any, and goes on in `<run>/<name>.log`.
  void open(const std::filesystem::path& run_directory, const std::string& name);
  void add(Level level, std::string_view text);
  /// `add` of what is on the console already.
  void add_told(Level level, std::string_view text);
  /// Writes the last line.
  void close(int exit_code);

 private:
  using Clock = std::chrono::steady_clock;

  std::string command_;
  bool verbose_ = false;
  bool parsing_ = false;
  std::string parsed_;  ///< The lines of `parse.log`.
  UniqueFd file_;
  Clock::time_point opened_;
};

/// The log of this call.
CommandLog& command_log();

/// The names of log files, without `.log`, in the order in which they are shown.
const std::vector<std::string>& log_names();

}  // namespace bench::cli
