#pragma once

#include <optional>
#include <string>
#include <vector>

#include <bench/base/error.hpp>
#include <bench/base/value.hpp>
#include <bench/evaluate/evaluator.hpp>

namespace bench::model {

struct Parameter {
  std::string name;
  std::string text;                 ///< Before expansion; stripped.
  std::vector<std::string> values;  ///< The short form's list; then `text` is empty.
  ValueType type = ValueType::string;
  evaluate::Mode mode = evaluate::Mode::text;
  std::string separator = ",";  ///< Splits the value into template values; empty: never.
  bool exported = false;        ///< Goes into the environment of the commands.
  std::string unit;
  Place place;
};

struct ParameterSet {
  std::string name;
  std::vector<Parameter> parameters;  ///< In order; each name once.
  Place place;
};

/// One `do` of a step: a shell snippet.
struct Command {
  std::string text;
  std::string active = "true";
  std::string stdout_file = "stdout";  ///< Relative to the work directory; appended to.
  std::string stderr_file = "stderr";
  Place place;
};

/// What a batch step asks of the machine. Texts, because parameters are allowed; empty: not said.
struct Batch {
  std::string nodes = "1";
  std::string tasks_per_node = "1";
  std::string threads_per_task;
  std::string gpus_per_node;
  std::string time_limit;
  std::string job_template;  ///< Name or path of another job template than the platform's.
  Place place;
};

/// How a step's energy is measured.
struct Energy {
  std::string methods = "auto";    ///< As `bench-energy --method` takes them.
  std::string interval = "100ms";  ///< A length of time.
  Place place;
};

struct Step {
  std::string name;
  std::vector<std::string> depend;
  std::vector<std::string> use;  ///< Names of parameter sets, in order.
  std::vector<Command> commands;
  int iterations = 1;
  int procs = 0;          ///< At most this many at once; 0: as many as there are cores.
  std::string max_async;  ///< At most this many unfinished; empty or 0: no limit.
  std::string active = "true";
  std::string where;    ///< Drops combinations for which it is false; empty: none.
  std::string timeout;  ///< A length of time; empty: none.
  std::optional<Batch> batch;
  std::optional<Energy> energy;
  Place place;
};

/// A pattern: a regular expression over output files, or a value derived from other values.
struct Pattern {
  std::string name;
  std::string text;  ///< Stripped.
  bool derived = false;
  evaluate::Mode mode = evaluate::Mode::text;  ///< Of a derived pattern.
  ValueType type = ValueType::string;
  std::string unit;
  std::optional<std::string> default_value;
  bool dotall = false;  ///< `.` matches a newline.
  Place place;
};

struct PatternSet {
  std::string name;
  std::vector<Pattern> patterns;
  Place place;
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
};

struct Column {
  std::string name;  ///< Of a parameter or pattern.
  std::string title;
  std::string format;     ///< Python format specification without its colon.
  int minimum_width = 0;  ///< In characters.
  Place place;
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
};

struct Result {
  std::vector<std::string> use;  ///< Analysers.
  std::vector<Table> tables;
  std::string result_dir;  ///< Empty: `result` in the run directory.
  Place place;
};

struct Benchmark {
  std::string name;
  std::string outpath;
  std::string comment;
  std::vector<ParameterSet> parameter_sets;  ///< Global ones first.
  std::vector<PatternSet> pattern_sets;
  std::vector<Step> steps;
  std::vector<Analyser> analysers;
  std::vector<Result> results;
  Place place;

  /// By name, or null.
  const ParameterSet* parameter_set(const std::string& wanted) const;
  const PatternSet* pattern_set(const std::string& wanted) const;
  const Step* step(const std::string& wanted) const;
  const Analyser* analyser(const std::string& wanted) const;
};

}  // namespace bench::model
