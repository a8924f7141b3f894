#pragma once

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
  std::unordered_map<std::string_view, std::size_t> index;  ///< Positions by name.
};

/// Names in `use` that cannot be told yet, since they hold parameters.
struct Pending {
  std::vector<std::string> uses;
  std::set<std::string, std::less<>> names;  ///< Parameters that the sets may define.
};

/// The progress of a parameter in one combination.
enum class Progress : char {
  open,      ///< Text still to be substituted or evaluated.
  choice,    ///< A template that waits to be multiplied out.
  constant,  ///< `text` is the value.
  late       ///< Waits for the workpackage's own variables.
};

struct Cell {
  std::string text;
  Progress progress = Progress::open;
  bool splits = true;      ///< A separator in `text` separates the values of a template.
  bool evaluated = false;  ///< `text` holds the result of a script.
  /// The parent's value, which is kept if a script returns a template that contains it.
  const std::string* kept = nullptr;
};

/// A combination that is being made.
struct PartialCombination {
  std::size_t origin = 0;
  const Layout* layout = nullptr;
  const Pending* pending = nullptr;  ///< Null where every set is known.
  std::vector<Cell> cells;           ///< One per parameter of the layout.
  /// The error of a script; nothing more is done to the combination.
  std::shared_ptr<const Error> invalid = nullptr;
};

/// A cell that holds the text of a parameter, not yet substituted or evaluated.
Cell open_cell(const model::Parameter& parameter);

/// The values of a template.
std::vector<std::string> pieces_of(const model::Parameter& parameter, const Cell& cell);

/// Turns an open cell whose text contains the separator into a template.
void split_if_template(const model::Parameter& parameter, Cell& cell);

/// Opens a cell so that it is evaluated again: a template from the value that was chosen, or from
/// its text if that value is unknown.
/// @param values with which it was chosen
void reopen(const Assignment& assignment, const evaluate::Lookup& values, Cell& cell);

/// The internal variables that a partial combination knows.
struct Constants {
  const evaluate::Lookup& known;
  bool complete = false;  ///< The workpackage exists: there will be no others.
};

/// The kinds of names that a substitution left unresolved.
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
