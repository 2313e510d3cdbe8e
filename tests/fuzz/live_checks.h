#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a store has to keep, whatever it is told: nothing it was given is lost without a count, its bounds hold, and its
// snapshots are recordings that a run can be made of.

#include "core/live/store.h"

#include <string>

namespace trainyard::fuzz {

/// Limits so tight that a few kilobytes reach all of them.
[[nodiscard]] live::StoreLimits tightLimits();

class CheckedStore {
public:
    CheckedStore();
    void take(live::Batch &&batch);
    /// Empty, or what does not hold. `isThorough`: with a run, a file and the whole of it; takes longer.
    [[nodiscard]] std::string fault(const live::SnapshotAsked &asked, bool isThorough);
    [[nodiscard]] live::Store &store() { return m_store; }

private:
    live::Store m_store;
    std::int64_t m_given = 0;
};

} // namespace trainyard::fuzz
