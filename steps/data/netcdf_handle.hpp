#pragma once

#include "data/hdf5_lock.hpp"

#include <utility>

#include <netcdf.h>

namespace bench::steps {

/// An open file of netCDF, closed with this object.
class NetcdfHandle {
 public:
  explicit NetcdfHandle(int id) : id_(id) {}
  NetcdfHandle(const NetcdfHandle&) = delete;
  NetcdfHandle& operator=(const NetcdfHandle&) = delete;
  ~NetcdfHandle() { close(); }

  int get() const { return id_; }

  /// @returns an error of netCDF, or NC_NOERR
  int close() {
    const Hdf5Lock lock;
    return id_ < 0 ? NC_NOERR : nc_close(std::exchange(id_, -1));
  }

 private:
  int id_;
};

}  // namespace bench::steps
