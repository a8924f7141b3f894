#include "levels.hpp"

#include <algorithm>
#include <span>

#include <fmt/core.h>

#include <bench/base/text.hpp>

namespace bench::expand {
namespace {

using evaluate::Mode;

/// A script text that is ready to be evaluated.
struct Script {
  Slot* slot;
  const model::Parameter* definition;
  std::string text;
};

/// Takes one draft as far as substitution gets it.
class Advance {
 public:
  Advance(Draft& draft, const Constants& constants, std::vector<Script>& scripts)
      : draft_(draft), constants_(constants), scripts_(scripts) {}

  /// Substitutes until nothing moves; appends the scripts that are ready then.
  void run() {
    const std::size_t ready_before = scripts_.size();
    for (bool moved = true; moved;) {
      scripts_.resize(ready_before);
      moved = false;
      for (std::size_t k = 0; k < draft_.slots.size(); ++k)
        if (draft_.slots[k].progress == Progress::open)
          moved |= advance(*draft_.layout->definitions[k], draft_.slots[k]);
    }
  }

 private:
  /// Takes a slot as far as substitution alone gets it. Returns true if that changed anything.
  bool advance(const model::Parameter& definition, Slot& slot) {
    Met met;
    std::string text = substitute_in(draft_, slot.text, constants_, met);
    if (met.open)
      return false;
    if (met.late) {
      slot.progress = Progress::late;
      return true;
    }
    if (definition.mode != Mode::text) {
      scripts_.push_back({&slot, &definition, std::move(text)});
      return false;
    }
    slot.text = std::move(text);
    slot.progress = Progress::constant;
    split_if_template(definition, slot);
    return true;
  }

  Draft& draft_;
  const Constants& constants_;
  std::vector<Script>& scripts_;
};

std::vector<Script> substitute_all(std::span<Draft> drafts, const ConstantsOf& constants) {
  std::vector<Script> scripts;
  for (Draft& draft : drafts) {
    const Constants known = constants(draft);
    Advance(draft, known, scripts).run();
  }
  return scripts;
}

/// The error for a script that failed. Its text is shown as it was evaluated.
Error script_error(const Script& script, const std::string& problem) {
  std::string hint = fmt::format("evaluated expression: {}", script.text);
  if (script.definition->mode == Mode::python)
    if (const auto left = evaluate::names_in(script.text); !left.empty())
      hint += fmt::format("\nhint: parameter '{}' is not defined here", left.front());
  return Error(fmt::format("parameter '{}': {}", script.definition->name, problem), hint,
               script.definition->place);
}

void evaluate_all(std::vector<Script> scripts, evaluate::Evaluator& evaluator) {
  std::vector<evaluate::Request> requests;
  requests.reserve(scripts.size());
  for (const Script& script : scripts)
    requests.push_back({script.definition->mode, script.text});
  auto outcomes = evaluator.evaluate(requests);
  for (std::size_t k = 0; k < scripts.size(); ++k) {
    Slot& slot = *scripts[k].slot;
    if (!outcomes[k].ok)
      throw script_error(scripts[k], outcomes[k].error);
    // The result is not substituted again: what a script returns is its own.
    slot.text = std::move(outcomes[k].value);
    slot.evaluated = true;
    slot.progress = Progress::constant;
    split_if_template(*scripts[k].definition, slot);
  }
}

std::size_t combinations_of(const Draft& draft, std::size_t limit) {
  std::size_t count = 1;
  for (std::size_t k = 0; k < draft.slots.size(); ++k)
    if (draft.slots[k].progress == Progress::choice)
      count = std::min(limit + 1,
                       count * pieces_of(*draft.layout->definitions[k], draft.slots[k]).size());
  return count;
}

/// A template that is being multiplied out.
struct Choice {
  std::size_t slot;
  std::vector<std::string> pieces;
};

/// Appends every combination of `draft`'s templates, the last slot varying fastest.
void multiply_one(Draft& draft, std::vector<Draft>& into) {
  std::vector<Choice> choices;
  for (std::size_t k = 0; k < draft.slots.size(); ++k)
    if (Slot& slot = draft.slots[k]; slot.progress == Progress::choice) {
      choices.push_back({k, pieces_of(*draft.layout->definitions[k], slot)});
      slot.progress = slot.evaluated ? Progress::constant : Progress::open;
      slot.text.clear();
    }
  std::vector<std::size_t> chosen(choices.size(), 0);
  for (bool more = true; more;) {
    Draft& combination = into.emplace_back(draft);
    for (std::size_t c = 0; c < choices.size(); ++c)
      combination.slots[choices[c].slot].text = choices[c].pieces[chosen[c]];
    more = false;
    for (std::size_t c = choices.size(); c-- > 0 && !more;) {
      more = ++chosen[c] < choices[c].pieces.size();
      if (!more)
        chosen[c] = 0;
    }
  }
}

}  // namespace

bool has_choice(const Draft& draft) {
  return std::ranges::any_of(
      draft.slots, [](Progress progress) { return progress == Progress::choice; }, &Slot::progress);
}

std::vector<Draft> multiply(std::vector<Draft> drafts, const Limits& limits,
                            const model::Step& step) {
  std::size_t total = 0;
  for (const Draft& draft : drafts)
    total += combinations_of(draft, limits.combinations);
  if (total > limits.combinations)
    throw Error(
        fmt::format("step '{}' has more than {} combinations", step.name, limits.combinations),
        "split the sweep, or raise the limit with --max-workpackages", step.place);
  if (std::ranges::none_of(drafts, has_choice))
    return drafts;
  std::vector<Draft> multiplied;
  multiplied.reserve(total);
  for (Draft& draft : drafts) {
    multiply_one(draft, multiplied);
    draft.slots = {};
  }
  return multiplied;
}

void settle(std::vector<Draft>& drafts, const ConstantsOf& constants,
            evaluate::Evaluator& evaluator) {
  for (std::size_t begin = 0; begin < drafts.size(); begin += chunk_size) {
    const auto chunk =
        std::span(drafts).subspan(begin, std::min(chunk_size, drafts.size() - begin));
    for (auto scripts = substitute_all(chunk, constants); !scripts.empty();
         scripts = substitute_all(chunk, constants))
      evaluate_all(std::move(scripts), evaluator);
  }
}

void refuse_circles(const std::vector<Draft>& drafts) {
  for (const Draft& draft : drafts) {
    std::vector<std::string> names;
    const model::Parameter* first = nullptr;
    for (std::size_t k = 0; k < draft.slots.size(); ++k)
      if (draft.slots[k].progress == Progress::open) {
        first = first ? first : draft.layout->definitions[k];
        names.push_back(draft.layout->definitions[k]->name);
      }
    if (first)
      throw Error(fmt::format("circular dependency of parameters: {}", join(names, ", ")),
                  "give one of them a value that does not depend on the others", first->place);
  }
}

}  // namespace bench::expand
