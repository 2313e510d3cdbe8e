#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Megatron's timers in the forms that it printed them over the years: one line "time (ms) | name: 1.2 | …" until 2023,
// then a heading with a line a timer of the smallest and largest over the ranks, of the largest, or of every rank.
// Values are milliseconds in a log, seconds here. Blocks are torn by lines of other processes, which pass through.

#include "core/runs/telemetry/readers/series_book.h"
#include "core/runs/telemetry/readers/text_lines.h"

#include <optional>

namespace trainyard::readers {

class MegatronTimers {
public:
    explicit MegatronTimers(SeriesBook &book)
        : m_book(book)
    {
    }
    /// Whether the line is one of timers, which belong to the step last told.
    bool take(const TextLine &line);
    void stepIs(std::int64_t step);
    /// What was read before any step was told belongs to it.
    void finish(std::int64_t step);

private:
    enum class Form { None, MinMax, Max, All };
    struct Waiting {
        std::string name;
        double seconds = 0;
        int rank = -1;
    };

    bool takeHeading(std::string_view text);
    bool takeOneLine(std::string_view text);
    bool takeTimer(std::string_view text, bool isOpen);
    bool takeRank(std::string_view text, bool isOpen);
    void add(std::string_view timer, std::string_view suffix, double milliseconds, int rank = -1);
    void closeAll();

    SeriesBook &m_book;
    Form m_form = Form::None;
    std::optional<std::int64_t> m_step;
    std::vector<Waiting> m_waiting;
    std::string m_timer; // whose ranks are being read
    double m_sum = 0, m_least = 0, m_most = 0;
    int m_ranks = 0;
};

} // namespace trainyard::readers
