#pragma once

// Files written with netCDF itself.

#include "steps_data/sample_numbers.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <netcdf.h>

namespace bench::steps {

inline void expect_success(int status) {
  EXPECT_EQ(status, NC_NOERR) << nc_strerror(status);
}

/// A netCDF file that a test writes.
class NetcdfTestFile {
 public:
  explicit NetcdfTestFile(const std::string& path, int mode = NC_NETCDF4) {
    expect_success(nc_create(path.c_str(), mode | NC_CLOBBER, &id_));
  }
  NetcdfTestFile(const NetcdfTestFile&) = delete;
  NetcdfTestFile& operator=(const NetcdfTestFile&) = delete;
  ~NetcdfTestFile() { expect_success(nc_close(id_)); }

  int id() const { return id_; }

  int define(const std::string& name, nc_type type, const std::vector<std::size_t>& shape) {
    std::vector<int> dimensions;
    for (const std::size_t extent : shape) {
      dimensions.emplace_back();
      expect_success(nc_def_dim(id_, ("d" + std::to_string(dimensions_++)).c_str(), extent,
                                &dimensions.back()));
    }
    int variable = -1;
    expect_success(nc_def_var(id_, name.c_str(), type, static_cast<int>(shape.size()),
                              dimensions.data(), &variable));
    return variable;
  }

  void write(int variable, const std::vector<double>& numbers) const {
    nc_enddef(id_);  // of a classic file; an error otherwise
    expect_success(nc_put_var_double(id_, variable, numbers.data()));
  }

  /// A variable of the numbers first, first + 1, ...
  void add(const std::string& name, const std::vector<std::size_t>& shape, std::uint64_t first = 0,
           nc_type type = NC_FLOAT) {
    std::size_t count = 1;
    for (const std::size_t extent : shape)
      count *= extent;
    nc_redef(id_);
    write(define(name, type, shape), numbers_from(first, count));
  }

 private:
  int id_ = -1;
  int dimensions_ = 0;
};

}  // namespace bench::steps
