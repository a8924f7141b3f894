#pragma once

// Files written with HDF5 itself.

#include <cstddef>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <hdf5.h>

namespace bench::steps {

/// An HDF5 file that a test writes.
class Hdf5TestFile {
 public:
  explicit Hdf5TestFile(const std::string& path)
      : id_(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT)) {
    EXPECT_GE(id_, 0) << path;
  }
  Hdf5TestFile(const Hdf5TestFile&) = delete;
  Hdf5TestFile& operator=(const Hdf5TestFile&) = delete;
  ~Hdf5TestFile() { H5Fclose(id_); }

  hid_t id() const { return id_; }

  /// A data set of the numbers first, first + 1, ...
  /// @param stored the type in the file
  /// @param chunk with which it is compressed; without, it is stored in one piece
  void add(const std::string& name, const std::vector<hsize_t>& shape, double first = 0,
           hid_t stored = H5T_NATIVE_FLOAT, const std::vector<hsize_t>& chunk = {}) const {
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    if (!chunk.empty()) {
      H5Pset_chunk(creation, static_cast<int>(chunk.size()), chunk.data());
      H5Pset_deflate(creation, 6);
    }
    write(name, shape, first, stored, creation);
    H5Pclose(creation);
  }

  void write(const std::string& name, const std::vector<hsize_t>& shape, double first, hid_t stored,
             hid_t creation) const {
    hsize_t count = 1;
    for (const hsize_t extent : shape)
      count *= extent;
    std::vector<double> numbers;
    for (hsize_t i = 0; i < count; ++i)
      numbers.push_back(first + static_cast<double>(i));
    const hid_t space = H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
    const hid_t links = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(links, 1);
    const hid_t set = H5Dcreate2(id_, name.c_str(), stored, space, links, creation, H5P_DEFAULT);
    EXPECT_GE(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data()), 0);
    H5Dclose(set);
    H5Pclose(links);
    H5Sclose(space);
  }

 private:
  hid_t id_;
};

}  // namespace bench::steps
