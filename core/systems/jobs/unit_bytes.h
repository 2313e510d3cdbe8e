#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What one unit has on its GPU before, while and after it computes, and what of that travels. Weights that stay for the
// next unit of the same shard take with them what the unit before owes to the host: the states that a backward pass has
// updated return after the forward pass that follows it in place. Whole bytes, so that sums are exact.

#include "core/systems/jobs/job_set.h"

namespace trainyard {

/// What of a unit stays on the GPU when it has ended, since the next unit there is the next of the same job.
enum class Keeps : std::uint8_t { Nothing, Input, WeightsAndInput };
inline constexpr int kKeeps = 3;

struct UnitBytes {
    /// weights, its own or those that it found there
    double held = 0;
    /// of them, what returns to the host when they leave
    double owed = 0;
    double input = 0, output = 0, nextInput = 0;
    /// on the GPU while it computes, all of the above included
    double need = 0;

    /// There before it starts.
    [[nodiscard]] double present() const { return held + input; }
    /// Travels to the host after it.
    [[nodiscard]] double stored(Keeps keeps) const { return (keeps == Keeps::WeightsAndInput ? 0 : owed) + output; }
    /// There from its end until that has arrived; what the next unit finds is part of it.
    [[nodiscard]] double left(Keeps keeps) const;
    /// Gone from the GPU when it has arrived.
    [[nodiscard]] double freed(Keeps keeps) const;
};

/// Of the job's unit. `isContinued`: with the weights that the unit before it left there.
[[nodiscard]] UnitBytes bytesOf(const JobSpec &job, std::size_t unit, bool isContinued);

/// Whether the unit can go on with the weights that the one before it has on the GPU: the same shard, of which nothing
/// more is needed. `wasContinued`: that one went on with weights itself.
[[nodiscard]] bool mayContinue(const JobSpec &job, std::size_t unit, bool wasContinued);

/// Bytes on the GPU of the largest unit.
[[nodiscard]] double largestNeed(const JobSpec &job);

} // namespace trainyard
