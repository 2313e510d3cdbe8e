#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What is published of traffic-aware exchanges with experts, from resources/catalog/expert_gains.json: figures that a
// comparison looks for, and never a prediction.

#include <string>

namespace trainyard {

struct PublishedExpertGains {
    /// of an all-to-all's own time, baseline / traffic-aware, at most
    double allToAll = 1;
    /// share of the whole latency that is saved
    double iteration = 0;
    /// "title, date"
    std::string source;
};

/// The figures that are built into the program.
[[nodiscard]] const PublishedExpertGains &publishedExpertGains();

} // namespace trainyard
