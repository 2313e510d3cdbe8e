#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Columns of nvidia-smi's tables: what they are called here, their units, and the values of a row. Both tables fill
// series of a GPU by them.

#include "core/runs/telemetry/readers/recording_builder.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

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

class SmiRows {
public:
    explicit SmiRows(RecordingBuilder &scribe)
        : m_scribe(scribe)
    {
    }
    /// Cells as printed: "99", "99 %", "-", "[N/A]"; words are left out. A row without a time is taken to be a second
    /// behind the one before of its GPU.
    void add(const std::vector<SmiColumn> &columns, const std::string &gpu, std::optional<std::int64_t> at,
        const std::vector<std::string_view> &cells);
    /// Of a line that is no row, or the last one, cut.
    void drop(bool isFinished);
    [[nodiscard]] bool hasGuessedTimes() const { return m_hasGuessedTimes; }
    /// `hasTimes`: moments are Unix times, not counted from the first row.
    [[nodiscard]] Expected<Recording> finish(bool hasTimes);

private:
    void addCell(const SmiColumn &column, std::string_view gpu, std::int64_t at, std::string_view cell);

    RecordingBuilder &m_scribe;
    std::unordered_map<std::string, std::int64_t> m_rows; // by GPU
    bool m_hasGuessedTimes = false;
};

} // namespace trainyard::readers
