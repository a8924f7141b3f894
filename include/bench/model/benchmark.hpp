#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <bench/base/error.hpp>
#include <bench/base/outcome.hpp>
#include <bench/base/value.hpp>
#include <bench/evaluate/evaluator.hpp>

namespace bench::model {

/// A text that is handed on to the batch system, and may hold parameters.
struct JobSetting {
  std::string name;  ///< One of `document::job_settings`; empty: a further option.
  std::string text;
  Place place;
};

/// The resources and settings that a batch step requests. They are texts, since they may hold
/// parameters; empty: not given.
struct Batch {
  std::string nodes = "1";
  std::string tasks_per_node = "1";
  std::string threads_per_task;
  std::string gpus_per_node;
  std::string time_limit;
  std::string job_template;  ///< Name or path of another job template than the platform's.
  bool array = true;  ///< Workpackages that ask for the same go to the batch system as one array.
  std::string pack = "1";        ///< How many workpackages share a job.
  bool kill_on_bad_exit = true;  ///< A task that fails ends the others of its program.
  /// Workpackages that ask for equally many nodes get the same ones.
  bool same_nodes = false;
  std::vector<JobSetting> settings;  ///< Those that are given, in the order of the table.
  std::vector<JobSetting> options;   ///< In the order of the file.
  Place place;

  /// Whether a job may run more than one workpackage.
  bool may_pack() const { return pack != "1"; }
  /// Null if it is not given.
  const JobSetting* setting(const std::string& wanted) const;
};

/// The longest run time of a job.
/// @throws Error if it is not a duration, or a number without a unit: minutes to Slurm
double parse_time_limit_s(const std::string& text, const Place& place);

/// When a value that was inherited or exists is evaluated again from the parameter's text.
enum class UpdateMode {
  never,
  use,    ///< In every step that uses the parameter's set.
  step,   ///< In every step.
  cycle,  ///< At the beginning of every cycle, the first included.
  always  ///< In every step and at the beginning of every cycle.
};

/// Which values of a metric are better.
enum class Better { higher, lower };

struct Parameter {
  std::string name;
  std::string text;                 ///< Before expansion; stripped.
  std::vector<std::string> values;  ///< The short form's list; then `text` is empty.
  ValueType type = ValueType::string;
  bool type_is_inferred = false;  ///< From the values of a short form.
  evaluate::Mode mode = evaluate::Mode::text;
  std::string separator = ",";  ///< Splits the value into template values; empty: never.
  bool exported = false;        ///< Goes into the environment of the commands.
  UpdateMode update_mode = UpdateMode::never;
  std::string unit;
  Place place;
};

struct ParameterSet {
  std::string name;
  std::vector<Parameter> parameters;  ///< In order; each name once.
  Place place;
};

/// One `do` of a step, or one `prepare` of a file set: a shell snippet. All texts but `shared` may
/// hold parameters.
struct Command {
  std::string text;  ///< Empty: nothing is executed; the files are looked for anyway.
  std::string active = "true";
  std::string stdout_file = "stdout";  ///< Relative to the work directory; appended to.
  std::string stderr_file = "stderr";
  std::string work_dir;    ///< Relative to the work directory, made if missing; empty: that one.
  std::string done_file;   ///< Finished once this exists, relative to where the command runs.
  std::string error_file;  ///< Failed if this exists, even beside the `done_file`.
  std::string break_file;  ///< If this exists the remaining commands and cycles are skipped.
  bool shared = false;     ///< Once for all workpackages of the step, in the shared directory.
  Place place;
};

/// One entry of a file set. All texts may hold parameters.
struct FileEntry {
  enum class Action { copy, link, prepare };
  Action action = Action::copy;
  std::vector<std::string> paths;  ///< Of a copy or link; shell patterns.
  std::vector<std::string> names;  ///< New names, as many as paths; empty: the old ones.
  std::string source_dir;          ///< In front of every path.
  std::string target_dir;          ///< In front of every name; made if missing.
  bool internal =
      false;  ///< Paths are relative to the workpackage's `work`, not to the input file.
  /// Directory that external relative paths start from, itself relative to that of the input file:
  /// another one where the set came from another file.
  std::string base;
  std::string active = "true";
  Command command;  ///< Of a prepare.
  Place place;
};

struct FileSet {
  std::string name;
  std::vector<FileEntry> entries;  ///< In the order in which they are done.
  Place place;
};

/// A file that substitutions are made in. Both names are relative to the work directory.
struct SubstitutedFile {
  std::string in;
  std::string out;      ///< May be `in`.
  bool append = false;  ///< To `out`, instead of replacing it.
  Place place;
};

struct Substitution {
  std::string source;  ///< Parameters are inserted first.
  std::string dest;
  bool regex = false;  ///< `source` is a regular expression, `dest` may hold `\1`.
  Place place;
};

struct SubstituteSet {
  std::string name;
  std::vector<SubstitutedFile> files;
  std::vector<Substitution> substitutions;  ///< One after the other: a later one sees the earlier.
  Place place;
};

/// Which failed attempts of a step are made again.
struct Retry {
  std::vector<Outcome> on;       ///< Ends after which one is.
  int times = 0;                 ///< At most, for each workpackage.
  double time_limit_factor = 1;  ///< On the time limit after each timeout.
  Place place;
};

/// How a step's energy is measured.
struct Energy {
  std::string methods = "auto";    ///< As `bench-energy --method` takes them.
  std::string interval = "100ms";  ///< A length of time.
  std::string baseline;            ///< How long the idle node is measured before; empty: not.
  std::string thermal;             ///< What is waited for before; empty: nothing.
  bool per_node = true;            ///< One meter on each node, else one for each task.
  Place place;
};

/// How often each combination of a step runs where that depends on its results: until half the
/// width of the 95 % confidence interval of the mean is below a limit.
struct Repetition {
  std::string text;   ///< `ci_halfwidth(rate) < 1%`.
  std::string value;  ///< What is known then: a pattern, or a figure of the meter.
  double limit = 0;   ///< In the unit of the value; a share of the mean where `relative`.
  bool relative = false;
  int most = 1;  ///< Iterations.
  /// What the workpackages of the step may take before no more are added; none: no bound.
  std::optional<double> budget_node_hours;
  std::optional<double> budget_wh;
  /// Combinations that cannot have the best mean are repeated no more.
  struct Race {
    bool maximise = true;
    std::vector<std::string> per;  ///< Parameters that rivals share; none: all are rivals.
    Place per_place;
  };
  std::optional<Race> race;
  Place until_place;
  Place budget_place;
};

/// In which order the workpackages of a step start.
enum class Order {
  given,        ///< Of their ids.
  interleaved,  ///< The first iterations of all, then the second ones, ...
  random        ///< Drawn with the seed of the run.
};

/// What an out-of-memory result of a step implies for those that need more.
struct Prune {
  std::vector<std::string> larger;  ///< Parameters with which the need of memory grows.
  /// Parameters that two workpackages must share for one to say something of the other.
  std::optional<std::vector<std::string>> per;  ///< None: all that do not depend on `larger`.
  Place place;
  Place larger_place;
  Place per_place;
};

/// The largest value of a parameter that has enough memory is searched for, for each combination of
/// the others: by doubling from `from` on, then by bisection.
struct Search {
  std::string parameter;
  std::string value;  ///< What is best at the value sought: a pattern, or a figure of the meter.
  bool maximise = true;
  long long from = 1;
  long long to = 1;
  long long multiple_of = 1;  ///< Of which every value tried is a multiple.
  Place parameter_place;
  Place value_place;
};

/// What the processors are set to while a step runs; empty: as they are.
struct PowerSettings {
  std::string gpu_power_limit;  ///< A power.
  std::string gpu_clock;        ///< A frequency.
  std::string cpu_governor;     ///< As Linux names it.
};

struct Step {
  std::string name;
  std::vector<std::string> depend;
  /// Names of parameter, file and substitute sets, in order; a name may hold parameters, and then
  /// need not exist.
  std::vector<std::string> use;
  std::vector<Command> commands;
  int iterations = 1;     ///< How often each combination runs, at least.
  int cycles = 1;         ///< How often the commands are executed in the same directory.
  int procs = 0;          ///< At most this many at a time; 0: not said.
  std::string max_async;  ///< At most this many unfinished; empty or 0: no limit.
  std::string active = "true";
  std::string where;        ///< Drops combinations for which it is false; empty: none.
  std::string timeout;      ///< A length of time; empty: none.
  std::string work_dir;     ///< Where commands run, relative to the input file; empty: `work`.
  std::string suffix;       ///< Appended to the name of the workpackage's directory.
  std::string shared;       ///< Name of the directory that all workpackages share; empty: none.
  std::string do_log_file;  ///< What was executed, as a file; empty: none.
  bool exported = false;    ///< The environment goes to the workpackages that depend on it.
  std::optional<Batch> batch;
  std::optional<Energy> energy;
  PowerSettings power;
  std::optional<Retry> retry;
  std::optional<Repetition> repetition;
  Order order = Order::given;
  std::optional<Prune> prune;
  std::optional<Search> search;
  Place place;

  bool depends_on(const std::string& parent) const;  ///< Whether `depend` names it.
  /// How often each combination may run.
  int most_iterations() const { return repetition ? repetition->most : iterations; }
};

/// A pattern: a regular expression over output files, or a value derived from other values.
struct Pattern {
  std::string name;
  std::string text;  ///< Stripped; an empty one matches nothing.
  bool derived = false;
  evaluate::Mode mode = evaluate::Mode::text;  ///< Of a derived pattern.
  ValueType type = ValueType::string;
  std::string unit;
  std::optional<std::string> default_value;
  bool dotall = false;  ///< `.` matches a newline.
  std::optional<Better> better;
  Place place;
};

/// The regular expressions behind `$jube_pat_int`, `$jube_pat_fp`, ...; null for other names.
const std::string* predefined_pattern(std::string_view name);
std::vector<std::string> predefined_pattern_names();

struct PatternSet {
  std::string name;
  std::vector<Pattern> patterns;  ///< Each name once.
  Place place;
  std::vector<Pattern> replaced;  ///< Those of which a later one has the name.
};

/// A file that an analyser reads.
struct AnalysedFile {
  std::string name;              ///< Relative to the work directory; may be a shell pattern.
  std::vector<std::string> use;  ///< Pattern sets beside those of the analyser.
  Place place;
};

struct Analysis {
  std::string step;
  std::vector<AnalysedFile> files;
  Place place;
};

struct Analyser {
  std::string name;
  bool reduce = true;  ///< All iterations of a combination make one row.
  std::vector<std::string> use;
  std::vector<Analysis> analyses;
  Place place;

  /// Those of the analyser and of all its files.
  std::set<std::string> pattern_sets() const;
};

/// A number that a column calculates from others of the row, and of the row of a baseline.
struct Calculation {
  std::string metric;           ///< Name of a metric; empty: the formula counts.
  std::vector<std::string> of;  ///< Its inputs: names, or numbers with a unit.
  std::string formula;          ///< Over names.
  /// Names with their values, which select the row of the baseline; empty: none.
  std::vector<std::pair<std::string, std::string>> baseline;
  std::vector<std::string> per;  ///< Names whose values a row and its baseline have in common.
  Place place;                   ///< Of the metric or formula.
  Place of_place;                ///< Of the inputs, or of the formula.
  Place baseline_place;
  Place per_place;
};

struct Column {
  std::string name;                  ///< Of a parameter or pattern; of the metric or formula.
  std::optional<std::string> title;  ///< None: the name.
  std::string format;                ///< Python format specification without its colon.
  int minimum_width = 0;             ///< In characters.
  Place place;
  std::string compare = {};  ///< What it is among published numbers; empty: not said.
  std::optional<Better> better = {};
  std::string unit = {};  ///< That values are converted to; empty: their own.
  Place unit_place = {};
  std::optional<Calculation> calculation = {};  ///< None: the values of `name`.
  bool primary = false;                         ///< Of a database: part of its primary key.
};

struct Table {
  std::string name;
  std::string style = "csv";
  std::string separator = ",";
  std::vector<std::string> sort;
  std::string filter;  ///< Empty: all rows.
  bool transpose = false;
  std::vector<Column> columns;
  Place place;
  std::string cdf = {};  ///< Pattern whose distribution function the rows show; empty: none.
  Place cdf_place = {};
};

/// One message per row to a syslog server: either the path of its socket, or host and port.
struct Syslog {
  std::string name;
  std::string address;
  std::string host;
  int port = 0;
  std::string format;  ///< As Python's logging takes it; empty: JUBE's default.
  std::vector<std::string> sort;
  std::string filter;
  std::vector<Column> keys;
  Place place;
};

/// Rows of a table in an SQLite file.
struct Database {
  std::string name;  ///< Of the table.
  std::string file;  ///< Relative to the current directory; empty: `<name>.dat` among the results.
  std::string filter;
  std::vector<Column> keys;
  Place place;
};

/// A figure of `bench report`, in place of those that it chooses for a table. Columns are called by
/// their titles or names.
struct Figure {
  enum class Mark { automatic, line, bar, heatmap, point };
  enum class Scale { automatic, linear, log, fit };
  std::string table;
  Mark mark = Mark::automatic;  ///< Lines over numbers, bars over names.
  std::string x;
  std::vector<std::string> y;      ///< A panel each.
  std::vector<std::string> color;  ///< A line or bar for each combination of their values.
  std::string row;                 ///< Of a heatmap: its other axis.
  std::string facet;               ///< A panel for each of its values.
  Scale x_scale = Scale::automatic;
  Scale scale = Scale::automatic;  ///< Of y.
  std::string title;               ///< Empty: made of the columns.
  Place place;
};

struct Result {
  std::vector<std::string> use;  ///< Analysers.
  std::vector<Table> tables;
  std::vector<Figure> figures;
  std::vector<Syslog> syslogs;
  std::vector<Database> databases;
  std::string result_dir;  ///< Empty: `result` in the run directory.
  Place place;
};

/// Those of its tables, databases and syslogs, in order.
std::vector<const Column*> columns_of(const Result& result);

struct Benchmark {
  std::string name;
  std::string outpath;
  std::string comment;
  std::vector<ParameterSet> parameter_sets;  ///< Global ones first.
  std::vector<FileSet> file_sets;
  std::vector<SubstituteSet> substitute_sets;
  std::vector<PatternSet> pattern_sets;
  std::vector<Step> steps;
  std::vector<Analyser> analysers;
  std::vector<Result> results;
  Place place;

  /// By name, or null.
  const ParameterSet* parameter_set(const std::string& wanted) const;
  const FileSet* file_set(const std::string& wanted) const;
  const SubstituteSet* substitute_set(const std::string& wanted) const;
  const PatternSet* pattern_set(const std::string& wanted) const;
  const Step* step(const std::string& wanted) const;
  /// The position in `steps` of a step that exists.
  std::size_t index_of(const std::string& step_name) const;
  const Analyser* analyser(const std::string& wanted) const;
};

/// Whether a name in a step's `use` holds parameters, so that each combination of the step may use
/// another set.
bool depends_on_parameters(const std::string& use);

/// Whether a name in a step's `use` may mean this set: it is its name or, where it holds
/// parameters, begins as its name does.
bool may_name(const std::string& use, const std::string& set);

/// The parameter sets that a name in `use` may mean, in the order of the file.
std::vector<const ParameterSet*> possible_sets(const Benchmark& benchmark, const std::string& use);

/// The parameters of all sets that the step may use, in order.
std::vector<const Parameter*> possible_parameters(const Benchmark& benchmark, const Step& step);

/// The names of these parameters.
std::set<std::string> own_parameter_names(const Benchmark& benchmark, const Step& step);

/// The parameters that a workpackage of the step may have: those of the step and of its parents.
std::set<std::string> parameter_names(const Benchmark& benchmark, const Step& step);

/// The values of a template that is plain text or a list, as they are written; none for a script.
std::vector<std::string> written_values(const Parameter& parameter);

}  // namespace bench::model
