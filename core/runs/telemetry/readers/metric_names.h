#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What frameworks call the quantities that they log, in lines, TensorBoard tags and wandb keys alike, and what this
// program calls them (sample_names.h). One table; pure functions.

#include <string>
#include <string_view>

namespace trainyard::readers {

struct MetricName {
    std::string name; // of sample_names.h, or "log." and the framework's own
    const char *unit = "1";
    double factor = 1; // from the framework's unit to ours
    bool isKnown = false;
};

/// Capitals, '_', '-' and blanks do not count: "learning_rate" is "Learning rate". "train/" in front does not either.
[[nodiscard]] MetricName metricNamed(std::string_view theirs);

/// Of a TensorBoard tag or wandb key: also Megatron's "<timer>-time" (s, largest over the ranks) and "throughput"
/// (TFLOP/s per GPU).
[[nodiscard]] MetricName metricOfTag(std::string_view tag);

} // namespace trainyard::readers
