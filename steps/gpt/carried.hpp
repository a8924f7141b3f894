#pragma once

#include "harness/torch_all.hpp"

#include <utility>

namespace bench::gpt {

/// A value in the form in which the context of an autograd function can keep it.
template <typename T>
struct Carried : torch::CustomClassHolder {
  explicit Carried(T v) : value(std::move(v)) {}
  T value;
};

template <typename T>
void carry(torch::autograd::AutogradContext* context, const char* name, T value) {
  context->saved_data[name] =
      c10::IValue::make_capsule(c10::make_intrusive<Carried<T>>(std::move(value)));
}

/// What `carry` put there, of the same type; lives as long as the context.
template <typename T>
T& carried(torch::autograd::AutogradContext* context, const char* name) {
  const auto capsule = context->saved_data[name].toCapsule();
  return static_cast<Carried<T>*>(capsule.get())->value;
}

}  // namespace bench::gpt
