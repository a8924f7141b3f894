#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <bench/evaluate/substitute.hpp>
#include <bench/expand/expand.hpp>
#include <bench/model/benchmark.hpp>

namespace bench::expand {

/// How far a parameter has come in one combination.
enum class Progress {
  open,      ///< Text still to be substituted or evaluated.
  choice,    ///< A template: `pieces` are its values.
  constant,  ///< `text` is the value.
  late       ///< Waits for the workpackage's own variables.
};

struct Slot {
  const model::Parameter* definition;
  Progress progress = Progress::open;
  bool splits = true;      ///< Whether a separator in `text` makes a template.
  bool evaluated = false;  ///< A script's result stands in `text`.
  std::string text = {};
  std::vector<std::string> pieces = {};
};

/// A combination that is being made.
struct Draft {
  std::size_t origin = 0;
  std::vector<Slot> slots;
};

/// What a substitution met on its way.
struct Met {
  bool open = false;  ///< A parameter that has no value yet.
  bool late = false;  ///< A variable of the workpackage, or a parameter that waits for one.
};

/// `slot`'s text with everything known inserted.
std::string substitute_slot(const Draft& draft, const Slot& slot, const evaluate::Lookup& constants,
                            Met& met);

/// Makes a template of an open slot whose text holds its separator.
void split_into_pieces(Slot& slot);

}  // namespace bench::expand
