#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What `import` tells: which files were taken and as what, what was assumed, what was left out of them and which were
// refused. Pure functions.

#include "core/runs/telemetry/recording.h"

#include <string>
#include <vector>

namespace trainyard::cli {

struct ImportReport {
    struct Line {
        /// empty: of no single file
        std::string file;
        std::string text;
        /// of entries; 0: it counts nothing
        std::int64_t count = 0;
    };
    std::vector<Line> taken, notes, planned, assumed, notUnderstood, ignored, refused;
    /// file
    std::string written;
    /// "8 ranks, 1,200,000 spans, …"
    std::string wrote;
};

[[nodiscard]] ImportReport reportOf(const Recording &recording);
[[nodiscard]] std::string contentsOf(const Recording &recording);
/// Lines of one text together, with their files and counts added up.
[[nodiscard]] std::string tableOf(const ImportReport &report);
[[nodiscard]] std::string jsonOf(const ImportReport &report);

} // namespace trainyard::cli
