#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Writes what ranks did into a recording: spans in order on their streams, collectives with their numbers, steps. First
// on the true clock, then as each rank's own clock shows it.

#include "tests/core/runs/overlay/recorded_run.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <string>

namespace trainyard::test {

/// Factors of durations, and how wrong clocks are.
class DurationNoise {
public:
    explicit DurationNoise(unsigned seed)
        : m_random(seed)
    {
    }
    double operator()(const RecordedRunOptions &options)
    {
        const double factor = std::exp(options.noise * m_normal(m_random));
        return m_share(m_random) < options.outlierShare ? factor * options.outlierFactor : factor;
    }
    double oneWayOrTheOther() { return 2 * m_share(m_random) - 1; }

private:
    std::mt19937_64 m_random;
    std::normal_distribution<double> m_normal;
    std::uniform_real_distribution<double> m_share;
};

/// Bytes of a message that takes so many nanoseconds by the plan, where the plan does not tell them: at 100 GB/s.
[[nodiscard]] inline double sizeOf(double planned)
{
    return std::max(1024.0, 1024 * std::round(planned * 100 / 1024));
}

enum class RunStream : std::uint8_t { Compute, Tensor, Data, Send, Receive, Copy };
inline constexpr int kRunStreams = 6;

class RunWriter {
public:
    RunWriter(int worldSize, const RecordedRunOptions &options);

    std::uint32_t group(const std::string &name, const std::vector<int> &ranks); // the same for the same name
    /// Times are nanoseconds. Launched before it starts, and before the stream was idle; the first of a step (its start
    /// is `isLate`) only then.
    void span(
        int rank, RunStream stream, const char *name, RecordedWork work, double start, double end, bool isLate = false);
    /// Its end with its jitter.
    double collective(int rank, std::uint32_t group, const char *operation, const char *kernel, double bytes,
        RunStream stream, double start, double end);
    /// Nothing of it is launched before.
    void beginStep(int rank, double start) { m_ranks[std::size_t(rank)].begun = start; }
    void step(int rank, int number, double start, double end);

    /// Without the missing ranks.
    [[nodiscard]] Recording take();

private:
    struct Span {
        Moment start = 0;
        std::int64_t duration = 0;
        std::uint32_t name = 0;
        RecordedWork work = RecordedWork::Compute;
        Moment launched = 0;
        std::uint32_t collective = kNoIndex;
    };
    struct Rank {
        std::vector<Span> spans[kRunStreams];
        std::vector<RecordedCollective> collectives;
        std::vector<RecordedStep> steps;
        std::map<std::uint32_t, std::int64_t> sequence; // [group]
        double computed = 0; // end of the last kernel that computes
        double begun = 0; // start of its step
    };
    void finishRank(int rank, RankRecording &made);

    RecordedRunOptions m_options;
    Recording m_recording;
    NameTable m_nameOf;
    std::map<std::string, std::uint32_t> m_groups;
    std::vector<Rank> m_ranks;
    std::mt19937_64 m_random;
};

/// The recording as clocks that are wrong show it.
[[nodiscard]] Recording onOwnClocks(Recording recording, const std::vector<TrueRank> &ranks, double middle);

} // namespace trainyard::test
