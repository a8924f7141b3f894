#pragma once

#include "calculated.hpp"
#include "row_order.hpp"
#include "rows.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/base/value.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/model/calculate.hpp>
#include <bench/results/analyses.hpp>
#include <bench/results/filters.hpp>
#include <bench/results/table.hpp>
#include <bench/space/lineage.hpp>
#include <bench/space/run.hpp>

namespace bench::tabulate {

/// One column of any kind of result.
struct WantedColumn {
  std::string name;
  std::string title;
  std::string format;
  int minimum_width = 0;
  Place place;
  std::string compare = {};
  std::string unit = {};
  Place unit_place = {};
  const model::Calculation* calculation = nullptr;
};

std::vector<WantedColumn> wanted(const std::vector<model::Column>& columns);
std::vector<WantedColumn> wanted(const std::vector<model::Key>& keys);

/// Fills the tables of one `result` element, whatever they become: shown, sent or stored.
class TableBuilder {
 public:
  /// What is passed must outlive this object.
  TableBuilder(const setup::Run& run, const model::Result& result, const workflow::Lineage& family,
               const Analyses& analyses, Filters& filters, Diagnostics& diagnostics);

  /// @param owner of the columns, for messages: `table 'r'`
  /// @param sort names of columns; empty: the order of the workpackages
  /// @param filter an expression over the columns; empty: all rows
  /// @param place of the element, for errors in its filter
  /// @param cdf a pattern whose distribution function takes the place of the rows; empty: none
  /// @throws Error for a filter, a unit or a baseline that does not fit
  result::Table fill(const std::string& name, const std::string& owner,
                     const std::vector<WantedColumn>& columns, const std::vector<std::string>& sort,
                     const std::string& filter, const Place& place, const std::string& cdf = "");

  /// Evaluates a filter at every row, so that `filters` knows the outcomes.
  void evaluate_filter(const std::string& filter, const std::vector<WantedColumn>& columns);

  const std::filesystem::path& run_directory() const { return run_.directory.path; }

  /// Where its files of results go.
  std::filesystem::path directory() const;

 private:
  /// The rows of a table, with what its columns calculate for them.
  struct TableRows {
    std::vector<RowPlace> places;
    std::vector<std::unique_ptr<CalculatedColumn>> columns;  ///< As the columns; else null.
    std::unique_ptr<CalculatedColumns> by_name = std::make_unique<CalculatedColumns>();
  };

  /// How the cells of a column are filled.
  struct Filler {
    std::string unit;
    ValueType type = ValueType::string;
    double factor = 1;                             ///< To the unit, from that of the values.
    const CalculatedColumn* calculated = nullptr;  ///< Null: the values of the column's name.
  };

  Filler filler_of(const WantedColumn& column, const CalculatedColumn* calculated) const;

  void warn_if_double(const std::string& owner, const WantedColumn& column,
                      const std::vector<result::Heading>& before);

  std::vector<SortName> sort_keys(const std::vector<std::string>& names) const;

  /// The names whose values make a row worth showing: those of the columns, or what these are
  /// calculated from.
  std::vector<std::string> shown_names(const std::vector<WantedColumn>& columns) const;

  /// One without any value is nothing to see, unless that is what its failure looks like.
  std::vector<RowPlace> places_with_values(const std::vector<std::string>& names,
                                           std::vector<std::string>& notes) const;

  TableRows rows_of(const std::vector<WantedColumn>& columns,
                    std::vector<std::string>& notes) const;

  std::vector<RowPlace> all_rows() const;

  static std::vector<result::Cell> cells_of(const RowPlace& row,
                                            const std::vector<WantedColumn>& columns,
                                            const std::vector<Filler>& fillers);

  const setup::Run& run_;
  const model::Result& result_;
  Filters& filters_;
  Diagnostics& diagnostics_;
  std::vector<std::unique_ptr<Rows>> analysers_;
};

}  // namespace bench::tabulate
