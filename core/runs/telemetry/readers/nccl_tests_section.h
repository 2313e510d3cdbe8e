#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// One run of one program of nccl-tests, of whichever format: its rank list and its measurements, from which follow the
// ranks and nodes that took part, also where the list is cut or the program does not say its name.

#include "core/runs/telemetry/readers/recording_builder.h"

#include <set>

namespace trainyard::readers {

class NcclTestsSection {
public:
    struct Measured {
        double bytes = 0, microseconds = 0, algorithm = 0, bus = 0; // bandwidths in GB/s
        bool isInPlace = false, isCpuTime = false;
        std::string reduction; // "sum", "none", …; may be empty
        std::int64_t root = -1;
    };

    std::string operation; // empty: not told
    void addRank(std::int64_t rank, std::int64_t group, std::string_view host, std::int64_t device);
    /// Processes list one rank each and run this many.
    void setRanksPerProcess(std::int64_t count) { m_ranksPerProcess = count; }
    void add(Measured measured) { m_measured.push_back(std::move(measured)); }
    void markListShortened() { m_isListShortened = true; }

    [[nodiscard]] bool hasRanks() const { return m_highestRank >= 0; }
    [[nodiscard]] bool isEmpty() const { return m_measured.empty(); }
    /// Each process ran alone: there is one rank and no bus bandwidth.
    [[nodiscard]] bool isAlone() const;
    /// Points of the benchmark and notes about what was inferred.
    void write(RecordingBuilder &scribe) const;

private:
    [[nodiscard]] double busRatio() const; // median of bus over algorithm bandwidth; 0: not to be told
    [[nodiscard]] int rankCount(RecordingBuilder &scribe) const;
    [[nodiscard]] int nodeCount(int ranks, RecordingBuilder &scribe) const;
    [[nodiscard]] std::string operationOf(int ranks, RecordingBuilder &scribe) const;

    std::vector<Measured> m_measured;
    std::set<std::string, std::less<>> m_hosts;
    std::set<std::int64_t> m_groups;
    std::int64_t m_highestRank = -1, m_listed = 0, m_highestDevice = -1, m_ranksPerProcess = 1;
    bool m_isListShortened = false;
};

/// Why a file whose runs were all alone is not read.
inline constexpr const char *kNcclTestsAlone =
    "It is a run of nccl-tests in which each process ran alone: the rank list has one rank and the bus bandwidth is 0. "
    "Built without MPI (make MPI=1), mpirun only starts the same test several times";

} // namespace trainyard::readers
