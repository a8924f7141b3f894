#pragma once

#include "fixpoint.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <bench/base/error.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/evaluate/substitute.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/space/combination.hpp>

namespace bench::space {

/// The parameters of a combination, in order. The partial combinations of a step share it.
struct Layout {
  explicit Layout(std::vector<const model::Parameter*> parameters, std::size_t own_count = 0);

  std::vector<const model::Parameter*> definitions;
  std::size_t own;  ///< The first of them come from the step's sets, the others are inherited.
  std::unordered_map<std::string_view, std::size_t> index;  ///< By name.
};

/// Names in `use` that cannot be told yet, since they hold parameters.
struct Pending {
  std::vector<std::string> uses;
  std::set<std::string, std::less<>> names;  ///< Parameters that the sets may define.
};

/// How far a parameter has come in one combination.
enum class Progress : char {
  open,      ///< Text still to be substituted or evaluated.
  choice,    ///< A template that waits to be multiplied out.
  constant,  ///< `text` is the value.
  late       ///< Waits for the workpackage's own variables.
};

struct Cell {
  std::string text;
  Progress progress = Progress::open;
  bool splits = true;      ///< Whether a separator in `text` makes a template.
  bool evaluated = false;  ///< `text` holds the result of a script.
  /// The value of the parent, which stays where a script makes a template with it again.
  const std::string* kept = nullptr;
};

/// A combination that is being made.
struct PartialCombination {
  std::size_t origin = 0;
  const Layout* layout = nullptr;
  const Pending* pending = nullptr;  ///< Null where every set is known.
  std::vector<Cell> cells;           ///< One per parameter of the layout.
  /// The error of a script; the combination then stays as it is.
  std::shared_ptr<const Error> invalid = nullptr;
};

/// The beginning of a parameter that is made from its text.
Cell open_cell(const model::Parameter& parameter);

/// The values of a template.
std::vector<std::string> pieces_of(const model::Parameter& parameter, const Cell& cell);

/// Makes a template of an open cell whose text holds its separator.
void split_if_template(const model::Parameter& parameter, Cell& cell);

/// Makes a cell ready to be evaluated again. For a template, from the value that was chosen; the
/// cell keeps its text where that is unknown.
/// @param values with which it was chosen
void reopen(const Assignment& assignment, const evaluate::Lookup& values, Cell& cell);

/// The internal variables that a partial combination knows.
struct Constants {
  const evaluate::Lookup& known;
  bool complete = false;  ///< The workpackage exists: there will be no others.
};

/// What a substitution left unresolved.
struct Unresolved {
  bool open = false;  ///< A parameter that has no value yet.
  bool late = false;  ///< A variable of the workpackage, or a parameter that waits for one.
};

/// `text` with everything known inserted.
std::string substitute_in(const PartialCombination& partial, const std::string& text,
                          const Constants& constants, Unresolved& unresolved);

/// How many combinations are evaluated together: enough that a request to Python costs nothing,
/// few enough that neither side holds the whole space as text.
inline constexpr std::size_t chunk_size = 4096;

/// Whether a template waits to be multiplied out.
bool has_choice(const PartialCombination& partial);

/// Multiplies out every template of every partial combination, in order.
/// @throws Error if that makes more partial combinations than allowed
std::vector<PartialCombination> multiply(std::vector<PartialCombination> partials,
                                         const Limits& limits, const model::Step& step);

/// The variables that a partial combination knows beside its own parameters.
using ConstantsOf = std::function<Constants(const PartialCombination&)>;

/// Substitutes and evaluates what can be, until only constants, late parameters, new templates and
/// what waits for those or for a set are left. The scripts of many partial combinations are
/// evaluated together.
/// @throws Error for a failing script, unless those are kept
void settle(std::vector<PartialCombination>& partials, const ConstantsOf& constants,
            evaluate::Evaluator& evaluator, Invalid invalid);

/// @throws Error for parameters that wait for each other. For partial combinations that are settled
///         and have no templates.
void refuse_circles(const std::vector<PartialCombination>& partials);

}  // namespace bench::space
