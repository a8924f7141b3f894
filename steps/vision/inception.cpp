#include "vision/inception.hpp"

#include "vision/network/layers.hpp"

#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

namespace bench::vision {
namespace {

constexpr Pooling reducing_maximum{Pooling::Kind::maximum, 3, 2};
constexpr Pooling centred_maximum{Pooling::Kind::maximum, 3, 1, Padding::half};
constexpr Pooling centred_average{Pooling::Kind::average, 3, 1, Padding::half};

Convolution reducing(std::int64_t out_channels) {
  return {out_channels, 3, 2, Padding::none};
}

/// Convolutions one behind the other, each with its normalisation and ReLU.
Path chain(std::initializer_list<Convolution> convolutions) {
  Path path;
  for (const Convolution& convolution : convolutions)
    path.insert(path.end(), {convolution, Normalisation{1e-3, 1e-3, false}, Relu{}});
  return path;
}

Layer side_by_side(std::vector<Path> paths) {
  return Branches{Branches::Join::concatenation, std::move(paths)};
}

/// A pooling and a 1x1 convolution behind it.
Path pooled(const Pooling& pooling, std::int64_t out_channels) {
  Path path = chain({{out_channels, 1}});
  path.insert(path.begin(), pooling);
  return path;
}

/// Figure 5: (B, C, n, n) -> (B, 224 + pool_channels, n, n).
Layer block_of_squares(std::int64_t pool_channels) {
  return side_by_side({chain({{64, 1}}), chain({{48, 1}, {64, 5}}),
                       chain({{64, 1}, {96, 3}, {96, 3}}), pooled(centred_average, pool_channels)});
}

/// Figure 6 with n = 7: (B, 768, n, n) -> (B, 768, n, n), `inner` channels within.
Layer block_of_sevens(std::int64_t inner) {
  const Kernel row{1, 7};
  const Kernel column{7, 1};
  return side_by_side(
      {chain({{192, 1}}), chain({{inner, 1}, {inner, row}, {192, column}}),
       chain({{inner, 1}, {inner, column}, {inner, row}, {inner, column}, {192, row}}),
       pooled(centred_average, 192)});
}

/// Figure 7: (B, C, n, n) -> (B, 2048, n, n). Two of its paths end in a row beside a column.
Layer wide_block(const Pooling& pooling) {
  const Layer row_and_column = side_by_side({chain({{384, {1, 3}}}), chain({{384, {3, 1}}})});
  Path from_small = chain({{384, 1}});
  from_small.push_back(row_and_column);
  Path from_large = chain({{448, 1}, {384, 3}});
  from_large.push_back(row_and_column);
  return side_by_side({chain({{320, 1}}), from_small, from_large, pooled(pooling, 192)});
}

}  // namespace

Path inception3() {
  Path layers = chain({reducing(32), {32, 3, 1, Padding::none}, {64, 3}});
  layers.push_back(reducing_maximum);
  const Path second = chain({{80, 1}, {192, 3, 1, Padding::none}});
  layers.insert(layers.end(), second.begin(), second.end());
  layers.push_back(reducing_maximum);  // 299x299 -> (B, 192, 35, 35)
  for (const std::int64_t pool_channels : {32, 64, 64})
    layers.push_back(block_of_squares(pool_channels));
  layers.push_back(side_by_side({chain({reducing(384)}),
                                 chain({{64, 1}, {96, 3}, reducing(96)}),
                                 {reducing_maximum}}));  // (B, 768, 17, 17)
  for (const std::int64_t inner : {128, 160, 160, 192})
    layers.push_back(block_of_sevens(inner));
  layers.push_back(side_by_side({chain({{192, 1}, reducing(320)}),
                                 chain({{192, 1}, {192, {1, 7}}, {192, {7, 1}}, reducing(192)}),
                                 {reducing_maximum}}));  // (B, 1280, 8, 8)
  layers.push_back(wide_block(centred_average));
  layers.push_back(wide_block(centred_maximum));
  layers.push_back(GlobalAverage{});
  return layers;
}

}  // namespace bench::vision
