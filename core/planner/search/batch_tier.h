#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The tier between bounds and run(): exact iteration times, fill and feasibility of the candidates that the batch
// runner passes through its lanes (core/planner/score/batch_runner.h). It is told by the values of a candidate's axes
// which those are; what it guesses wrongly costs time and changes nothing, and where it mostly guesses wrongly it
// retires. Owned by one search, which calls it from one thread; it works on all threads of the search.

#include "core/planner/score/batch_runner.h"
#include "core/planner/search/search_threads.h"

#include <memory>
#include <stop_token>
#include <vector>

namespace trainyard {

class BatchTier {
public:
    /// `takesAny`: scores come from tables; else every candidate takes a placement of its own, and none is taken.
    BatchTier(const SearchSpace &space, const Catalogue &catalogue, std::size_t workers, bool takesAny);

    [[nodiscard]] bool takes(const Candidate &candidate) const;
    /// One outcome a number, in their order, however many threads; stopped, some are not run.
    [[nodiscard]] std::vector<Outcome> run(
        SearchThreads &threads, const std::vector<std::uint64_t> &numbers, const std::stop_token &stop);

private:
    /// Something that keeps a plan out of the lanes, which one axis at most decides.
    struct Hindrance {
        int axis = -1;
        /// [value of the axis], or the one that all candidates share
        std::vector<bool> at;
    };

    const SearchSpace &m_space;
    std::vector<Hindrance> m_hindrances;
    /// [worker]
    std::vector<std::unique_ptr<BatchRunner>> m_runners;
    std::int64_t m_given = 0;
    bool m_isRetired = false;
};

} // namespace trainyard
