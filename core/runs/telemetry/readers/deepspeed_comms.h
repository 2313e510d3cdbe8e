#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What DeepSpeed's communication logger tells: a line an operation, and tables at the end, one of means and one of
// stragglers. Gbps are bits, sizes 1024-based. Each becomes a benchmark point, without a number of ranks, which the
// log does not tell.

#include "core/runs/telemetry/readers/series_book.h"
#include "core/runs/telemetry/readers/text_lines.h"

namespace trainyard::readers {

class DeepSpeedComms {
public:
    bool take(const TextLine &line);
    /// What is new since the last time.
    void give(Recording &recording, RecordedSource &told);

private:
    bool takeOperation(std::string_view text, bool isOpen);
    bool takeTable(const TextLine &line);
    bool takeRow(std::string_view text);
    void add(BenchmarkPoint point);

    std::vector<BenchmarkPoint> m_points;
    std::string m_operation; // whose rows follow
    std::size_t m_given = 0; // points
    std::int64_t m_left = 0; // beyond what is kept
    bool m_isInTable = false, m_isOfStragglers = false;
};

} // namespace trainyard::readers
