#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The steps of one rank, each once, by their numbers: a step that is told again later is of another attempt, and those
// that the earlier one told from there on do not count any more. Telling n steps takes n log n, in whatever order they
// come (backwards too); they are laid in a row when somebody looks. Not thread-safe.

#include "core/runs/telemetry/recording.h"

#include <map>
#include <optional>
#include <span>
#include <utility>

namespace trainyard::live {

class StepHistory {
public:
    enum class Taken : std::uint8_t {
        Yes,
        /// told before, equal
        Again,
        /// a later attempt told it, or one before it, already
        Superseded,
    };
    struct Answer {
        Taken taken = Taken::Yes;
        /// Another attempt begins with it: what lies between these moments belongs to the one before.
        std::optional<std::pair<Moment, Moment>> superseded;
        /// ns that the clock went back by, where that is more than `reorder`
        std::int64_t wentBack = 0;
    };
    Answer add(const RecordedStep &step, std::int64_t reorder);

    [[nodiscard]] std::span<const RecordedStep> steps() const; // by number
    [[nodiscard]] std::size_t size() const { return m_steps.size(); }
    [[nodiscard]] std::int64_t attempts() const { return m_attempts; }
    /// The first with this number or a larger one; end() where there is none.
    [[nodiscard]] std::span<const RecordedStep> from(std::int64_t number) const;
    /// Lets the oldest go, up to `most`.
    void keepLatest(std::size_t most);
    [[nodiscard]] std::size_t bytes() const
    {
        return m_row.capacity() * sizeof(RecordedStep) + m_steps.size() * kOfNode;
    }

private:
    static constexpr std::size_t kOfNode = 80; // bytes of a step in the map, about

    std::map<std::int64_t, RecordedStep> m_steps; // by number
    /// the same in a row; not up to date where !m_isLaid
    mutable std::vector<RecordedStep> m_row;
    mutable bool m_isLaid = true;
    std::int64_t m_attempts = 1;
};

} // namespace trainyard::live
