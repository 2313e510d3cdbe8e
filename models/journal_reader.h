#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a journal holds: the work of each variant after its last whole line. A line that was being written when the
// program or the machine ended is left out; behind a damaged one nothing is read. Any thread.

#include "models/unsaved_work.h"

namespace trainyard {

struct JournalContent {
    /// One for each variant that was not given up, clean ones included.
    std::vector<RecoveredPlan> works;
    enum class State {
        /// but for a torn last line
        Whole,
        /// a line that was written to its end cannot be read
        Damaged,
        /// of a later version, or unreadable: not to be touched
        Unknown,
    };
    State state = State::Whole;
};

[[nodiscard]] JournalContent readJournal(const QString &file);

} // namespace trainyard
