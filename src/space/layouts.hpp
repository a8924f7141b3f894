#pragma once

#include "partial_combination.hpp"

#include <cstddef>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <bench/evaluate/substitute.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/space/combination.hpp>

namespace bench::expand {

/// Puts the parameters of a step's sets on top of what it inherits, and owns the layouts and
/// pending names of the partial combinations.
class Layouts {
 public:
  Layouts(const model::Benchmark& benchmark, const model::Step& step)
      : benchmark_(benchmark), step_(step) {}

  /// The beginning of the combinations of one origin.
  /// @returns the parameter that the step and the origin define differently, or an empty text
  /// @throws Error if two sets of the step define a name differently
  std::string start(const Origin& origin, const evaluate::Lookup& constants,
                    PartialCombination& partial);

  /// Adds the sets whose names have become known with the values of the combination. Names that
  /// will not become known any more are given up: they mean nothing.
  /// @returns as `start` does
  std::string take_known_sets(const evaluate::Lookup& constants, PartialCombination& partial);

 private:
  /// How a partial combination gets the parameters of one more set.
  struct Extension {
    const Layout* layout = nullptr;
    static constexpr std::size_t new_cell = static_cast<std::size_t>(-1);
    std::vector<std::size_t> sources;  ///< Cell that each one is taken from, or `new_cell`.
    std::string conflict;              ///< Then nothing else.
  };

  const Layout* inherited_layout(const Origin& origin);
  const Extension& extension(const Layout* layout, const model::ParameterSet& set);
  Extension make_extension(const Layout& layout, const model::ParameterSet& set);
  std::string add(const model::ParameterSet& set, PartialCombination& partial);
  std::string add_known(const std::vector<std::string>& uses, const evaluate::Lookup& constants,
                        PartialCombination& partial);
  const Pending* pending(const std::vector<std::string>& uses);
  void refuse_difference(const model::Parameter& one, const model::Parameter& other) const;

  const model::Benchmark& benchmark_;
  const model::Step& step_;
  std::deque<Layout> layouts_;
  std::map<std::vector<const model::Parameter*>, const Layout*> inherited_;
  std::map<std::pair<const Layout*, const model::ParameterSet*>, Extension> extensions_;
  std::map<std::vector<std::string>, Pending> pending_;
};

}  // namespace bench::expand
