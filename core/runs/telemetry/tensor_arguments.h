#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The tensors that an operator was called with, as a profiler tells them: "bf16[4096, 1024], bf16[1024, 512]".
// Recordings keep that text as the shape of a span of the host. Pure functions.

#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

struct TensorArgument {
    /// of its elements, "bf16", "f32", "f8e4m3", "i64"; empty: it is no tensor
    std::string type;
    /// elements by dimension; empty: a single one
    std::vector<double> sizes;
    /// of what is no tensor: "True", "0.5", "[1, 1]"; may be empty
    std::string value;
    [[nodiscard]] bool isTensor() const { return !type.empty(); }
    [[nodiscard]] double elements() const;
    /// of all elements; 0: a type of unknown size
    [[nodiscard]] double bytes() const;
    bool operator==(const TensorArgument &) const = default;
};

/// "bf16" of PyTorch's "c10::BFloat16"; what is not known by another name is its own, without what stands before "::".
[[nodiscard]] std::string shortTypeName(std::string_view type);
/// Of an element of a type by its short name; 0: not known.
[[nodiscard]] double bytesOfShortType(std::string_view type);
/// An argument that is neither a tensor nor a value is "-".
[[nodiscard]] std::string textOf(const std::vector<TensorArgument> &arguments);
/// Of a text that textOf() makes.
[[nodiscard]] std::vector<TensorArgument> readTensorArguments(std::string_view text);

} // namespace trainyard
