#pragma once

#include "vision/network/layers.hpp"

// Networks without branches and normalisation. Their fully connected layers take all pixels that
// are left, so that the number of weights depends on the size of the images.

namespace bench::vision {

/// The layers before the classifier of AlexNet as tf_cnn_benchmarks has it: images 227x227, no
/// local response normalisation, one tower. Source of the widths: Krizhevsky, One weird trick
/// (arXiv:1404.5997), footnote 1.
Path alexnet();

/// The layers of VGG-16 before its classifier.
/// Source: Simonyan and Zisserman, Very Deep Convolutional Networks (arXiv:1409.1556), table 1, D.
Path vgg16();

}  // namespace bench::vision
