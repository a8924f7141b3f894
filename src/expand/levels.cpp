#include "levels.hpp"

#include <fmt/core.h>

#include <bench/base/text.hpp>

namespace bench::expand {
namespace {

using evaluate::Mode;

/// A script text that is ready to be evaluated.
struct Pending {
  Slot* slot;
  std::string text;
};

/// Takes a slot as far as substitution alone gets it. Returns true if that changed anything.
bool advance(const Draft& draft, Slot& slot, const evaluate::Lookup& constants,
             std::vector<Pending>& scripts) {
  if (slot.progress != Progress::open)
    return false;
  Met met;
  std::string text = substitute_slot(draft, slot, constants, met);
  if (met.open)
    return false;
  if (met.late) {
    slot.progress = Progress::late;
    return true;
  }
  if (slot.definition->mode != Mode::text && !slot.evaluated) {
    scripts.push_back({&slot, std::move(text)});
    return false;
  }
  slot.text = std::move(text);
  slot.progress = Progress::constant;
  split_into_pieces(slot);
  return true;
}

/// Substitutes in every draft until nothing moves; returns the scripts that are ready then.
std::vector<Pending> substitute_all(std::vector<Draft>& drafts, const ConstantsOf& constants) {
  std::vector<Pending> scripts;
  for (Draft& draft : drafts) {
    const evaluate::Lookup& known = constants(draft);
    const std::size_t ready_before = scripts.size();
    for (bool moved = true; moved;) {
      scripts.resize(ready_before);
      moved = false;
      for (Slot& slot : draft.slots)
        moved |= advance(draft, slot, known, scripts);
    }
  }
  return scripts;
}

void evaluate_all(const std::vector<Pending>& scripts, evaluate::Evaluator& evaluator) {
  std::vector<evaluate::Request> requests;
  requests.reserve(scripts.size());
  for (const Pending& script : scripts)
    requests.push_back({script.slot->definition->mode, script.text});
  const auto outcomes = evaluator.evaluate(requests);
  for (std::size_t k = 0; k < scripts.size(); ++k) {
    Slot& slot = *scripts[k].slot;
    if (!outcomes[k].ok)
      throw script_error(*slot.definition, scripts[k].text, outcomes[k].error);
    // The result is not substituted again: what a script returns is its own.
    slot.text = outcomes[k].value;
    slot.evaluated = true;
    slot.progress = Progress::constant;
    split_into_pieces(slot);
  }
}

/// Whatever is still open waits, directly or not, for itself.
void refuse_circles(const std::vector<Draft>& drafts) {
  for (const Draft& draft : drafts) {
    std::vector<std::string> names;
    bool choice = false;
    const model::Parameter* first = nullptr;
    for (const Slot& slot : draft.slots) {
      choice |= slot.progress == Progress::choice;
      if (slot.progress == Progress::open) {
        names.push_back(slot.definition->name);
        first = first ? first : slot.definition;
      }
    }
    if (first && !choice)
      throw Error(
          fmt::format("these parameters depend on each other in a circle: {}", join(names, ", ")),
          "one of them must have a value of its own", first->place);
  }
}

std::size_t combinations_of(const Draft& draft, std::size_t limit) {
  std::size_t count = 1;
  for (const Slot& slot : draft.slots)
    if (slot.progress == Progress::choice)
      count = std::min(limit + 1, count * slot.pieces.size());
  return count;
}

/// Appends every combination of `draft`'s templates, the last slot varying fastest.
void multiply_one(const Draft& draft, std::vector<Draft>& into) {
  std::vector<Draft> combinations{draft};
  for (std::size_t k = 0; k < draft.slots.size(); ++k) {
    const Slot& slot = draft.slots[k];
    if (slot.progress != Progress::choice)
      continue;
    std::vector<Draft> longer;
    longer.reserve(combinations.size() * slot.pieces.size());
    for (const Draft& combination : combinations)
      for (const std::string& piece : slot.pieces) {
        Slot& chosen = longer.emplace_back(combination).slots[k];
        chosen.text = piece;
        chosen.pieces.clear();
        chosen.progress = chosen.evaluated ? Progress::constant : Progress::open;
      }
    combinations = std::move(longer);
  }
  for (Draft& combination : combinations)
    into.push_back(std::move(combination));
}

}  // namespace

Error script_error(const model::Parameter& parameter, const std::string& text,
                   const std::string& problem) {
  return Error(fmt::format("parameter '{}': {}", parameter.name, problem),
               fmt::format("evaluated was: {}", text), parameter.place);
}

std::vector<Draft> multiply(std::vector<Draft> drafts, const Limits& limits,
                            const model::Step& step) {
  std::size_t total = 0;
  for (const Draft& draft : drafts)
    total += combinations_of(draft, limits.combinations);
  if (total > limits.combinations)
    throw Error(
        fmt::format("step '{}' has more than {} combinations", step.name, limits.combinations),
        "drop some with `where`, or split the sweep", step.place);
  std::vector<Draft> multiplied;
  multiplied.reserve(total);
  for (const Draft& draft : drafts)
    multiply_one(draft, multiplied);
  return multiplied;
}

void settle(std::vector<Draft>& drafts, const ConstantsOf& constants,
            evaluate::Evaluator& evaluator) {
  for (auto scripts = substitute_all(drafts, constants); !scripts.empty();
       scripts = substitute_all(drafts, constants))
    evaluate_all(scripts, evaluator);
  refuse_circles(drafts);
}

}  // namespace bench::expand
