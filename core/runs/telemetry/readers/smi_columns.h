#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Columns of nvidia-smi's tables: what they are called here, their units, and the values of a row. Both tables fill
// series of a GPU by them.

#include "core/runs/telemetry/readers/recording_builder.h"

namespace trainyard::readers {

struct SmiColumn {
    std::string name, unit; // canonical, or "smi." and its own
    double factor = 1;
    bool isSeries = true; // false: it tells time, which GPU, or words
};
/// Of "utilization.gpu [%]" and its unit, as the header of --query-gpu writes them.
[[nodiscard]] SmiColumn smiQueryColumn(std::string_view header);
/// Of dmon's "rxpci" and its unit of the second header line, "MB/s".
[[nodiscard]] SmiColumn smiDmonColumn(std::string_view header, std::string_view unit);

class SmiSeries {
public:
    explicit SmiSeries(RecordingBuilder &scribe)
        : m_scribe(scribe)
    {
    }
    /// A cell as printed: "99", "99 %", "-", "[N/A]"; words are left out.
    void add(const SmiColumn &column, std::string_view gpu, std::int64_t at, std::string_view cell);

private:
    RecordingBuilder &m_scribe;
};

} // namespace trainyard::readers
