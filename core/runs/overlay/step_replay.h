#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The measured steps, played again with other durations: what a step would take were a cause mended. Work of a GPU
// begins when what it waited for has ended: the work before it on its stream, the other stream's work that ended last,
// a receive that was launched before it; then the gap that was measured. A collective moves its data once its last
// rank has entered. Played with the measured durations it gives the measured moments back, so that what changes is the
// mended cause alone. How transfers that share a link slow each other is left as it was measured.

#include "core/runs/overlay/run_steps.h"

#include <span>
#include <vector>

namespace trainyard {

/// A kernel, copy or collective of a GPU.
struct ReplayWork {
    /// of Recording::ranks, of its streams, of the stream's spans
    std::uint32_t rank = 0, stream = 0, span = 0;
    RecordedWork work = RecordedWork::Compute;
    /// Recording::names
    std::uint32_t name = 0;
    /// Run::collectives; kNoIndex: not matched
    std::uint32_t matched = kNoIndex;
    /// index into StepReplay::steps(); -1: between or before them
    int step = -1;
    /// on the job's clock, ns
    Moment start = 0, end = 0;
    /// ns: of a kernel its duration; of a matched collective from the entry of its last rank to its end
    std::int64_t duration = 0;
    /// ns, from the end of what it waited for to its start; `host`: the part of it before it was launched
    std::int64_t gap = 0, host = 0;
};

/// What one play changes, a value a work; empty: as measured.
struct ReplayChange {
    std::vector<std::int64_t> duration, gap;
};

class StepReplay {
public:
    /// Of the longest row of counted steps that follow each other, sixteen at most, with what lies between them.
    explicit StepReplay(const Run &run);

    /// In order of their starts. Empty: no spans show steps, or too many.
    [[nodiscard]] const std::vector<ReplayWork> &works() const { return m_works; }
    /// Of Run::steps, ascending.
    [[nodiscard]] const std::vector<const RunStep *> &steps() const { return m_steps; }
    /// Seconds of one step: the mean time between the ends of its steps, of one alone from its first start.
    [[nodiscard]] double seconds(const ReplayChange &change = {}) const;

private:
    struct Event { // a start or an end of a work
        std::uint32_t work = 0;
        bool isEnd = false;
    };
    void chooseSteps(const Run &run);
    void addWorks(const Run &run);
    void findDependencies(const Run &run);

    std::vector<const RunStep *> m_steps;
    std::vector<ReplayWork> m_works;
    /// in the order in which they were measured, which every play keeps
    std::vector<Event> m_events;
    /// [work] what it waits for, ranges of m_before
    std::vector<std::uint32_t> m_firstBefore, m_before;
    /// [work] whose entries its end waits for, ranges of m_partners; itself among them
    std::vector<std::uint32_t> m_firstPartner, m_partners;
};

} // namespace trainyard
