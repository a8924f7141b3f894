#pragma once

#include "data/hdf5_lock.hpp"

#include <string>
#include <utility>

#include <hdf5.h>

namespace bench::steps {

/// An identifier of HDF5, closed with this object.
template <herr_t (*close)(hid_t)>
class Hdf5Handle {
 public:
  Hdf5Handle() = default;
  /// @param id negative if HDF5 could not make it
  explicit Hdf5Handle(hid_t id) : id_(id) {}
  Hdf5Handle(Hdf5Handle&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)) {}
  Hdf5Handle& operator=(Hdf5Handle&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  ~Hdf5Handle() {
    if (id_ < 0)
      return;
    const Hdf5Lock lock;
    close(id_);
  }

  hid_t get() const { return id_; }
  explicit operator bool() const { return id_ >= 0; }

 private:
  hid_t id_ = H5I_INVALID_HID;
};

/// The most specific message of HDF5's last error.
std::string hdf5_error();

using Hdf5FileHandle = Hdf5Handle<H5Fclose>;
using Hdf5Dataset = Hdf5Handle<H5Dclose>;
using Hdf5Space = Hdf5Handle<H5Sclose>;
using Hdf5Type = Hdf5Handle<H5Tclose>;
using Hdf5Properties = Hdf5Handle<H5Pclose>;

}  // namespace bench::steps
