#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A sweep on the threads of this process: each takes a few rows at a time, and the thread that called writes nothing
// but waits and tells how far it is. The rows, and so the file, are those of one thread.

#include "core/planner/sweep/sweep_board.h"

#include <cstddef>
#include <functional>

namespace trainyard {

/// Takes ranges to work out, and gives them back as they are done: threads of their own. Any thread may call it.
class SweepWorkers {
public:
    /// `threads` 0: as many as the processor has cores. Refers to the catalogue.
    SweepWorkers(const SweepSpec &spec, SweepFormat format, const Catalogue &catalogue, std::size_t threads);
    /// Stops what is under way.
    ~SweepWorkers();
    SweepWorkers(const SweepWorkers &) = delete;
    SweepWorkers &operator=(const SweepWorkers &) = delete;

    [[nodiscard]] std::size_t threads() const;
    void give(SweepRange range);
    /// Given and not yet taken back.
    [[nodiscard]] std::size_t held() const;
    /// What is done; waits for it up to so long where nothing is. Errors: Internal, what a thread failed of.
    [[nodiscard]] Expected<std::optional<SweepChunk>> next(double seconds);

private:
    struct Private;
    std::unique_ptr<Private> m_private;
};

struct SweepProgress {
    /// of the whole sweep, those that were there included
    std::uint64_t written = 0, rows = 0;
    /// of the rows of this run
    SweepCounts counts;
};

struct SweepEnd {
    /// rows that the file had
    std::uint64_t there = 0;
    /// rows that it has now, the first ones
    std::uint64_t written = 0;
    /// of this run
    SweepCounts counts;
    bool isStopped = false;
};

/// Works out the last row of a file that is gone on with anew: a build of the program that comes to another row would
/// append rows that do not go with those that are there. Errors: CannotWrite.
[[nodiscard]] Expected<void> checkLastRow(const SweepSpec &spec, SweepFormat format, const Catalogue &catalogue,
    const SweepFile &file, const std::stop_token &stop);

/// Works out what the file lacks. Errors: of the file, as checkLastRow() where rows are there; Internal.
[[nodiscard]] Expected<SweepEnd> runSweep(const SweepSpec &spec, SweepFormat format, const Catalogue &catalogue,
    SweepFile &file, std::size_t threads, const std::stop_token &stop,
    const std::function<void(const SweepProgress &)> &onProgress = {});

} // namespace trainyard
