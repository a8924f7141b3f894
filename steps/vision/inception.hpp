#pragma once

#include "vision/network/layers.hpp"

namespace bench::vision {

/// The layers before the classifier of Inception v3, in the form of tf_cnn_benchmarks: without the
/// auxiliary classifier, normalisations without a learnt factor (decay 0.999, epsilon 1e-3), and
/// the 8x8 average at the end over whatever is left of images that are not 299x299.
/// Source: Szegedy et al., Rethinking the Inception Architecture for Computer Vision
/// (arXiv:1512.00567), table 1 and figures 5 to 7 and 10.
Path inception3();

}  // namespace bench::vision
