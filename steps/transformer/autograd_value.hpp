#pragma once

#include "harness/torch_all.hpp"

#include <utility>

namespace bench::transformer {

/// A C++ value in the form in which the context of an autograd function can hold it.
template <typename T>
struct AutogradValue : torch::CustomClassHolder {
  explicit AutogradValue(T v) : value(std::move(v)) {}
  T value;
};

/// Saves a value that is not a tensor for the backward pass.
template <typename T>
void save_value(torch::autograd::AutogradContext* context, const char* name, T value) {
  context->saved_data[name] =
      c10::IValue::make_capsule(c10::make_intrusive<AutogradValue<T>>(std::move(value)));
}

/// Returns what `save_value` saved under this name, of the same type. It lives as long as the
/// context.
template <typename T>
T& saved_value(torch::autograd::AutogradContext* context, const char* name) {
  const auto capsule = context->saved_data[name].toCapsule();
  return static_cast<AutogradValue<T>*>(capsule.get())->value;
}

}  // namespace bench::transformer
