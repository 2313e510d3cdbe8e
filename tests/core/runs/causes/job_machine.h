#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A small machine that runs a training job, kernel by kernel, and writes what its ranks show into the text of a
// recording. It shares no code with the product: it is told how long things take, and has a host, streams, rings and
// queues of its own. Each duration has noise that hangs on its place alone, so that a run with a cause and the run
// without it differ in the cause.

#include <cstdint>
#include <string>
#include <vector>

namespace trainyard::test {

/// What one rank of a stage does in a micro-batch, seconds.
struct MachineStage {
    double forward = 0, backward = 0, optimizer = 0;
    /// exchange of gradients after the last backward
    double gradients = 0;
    /// to the next stage, one way; latency with it
    double transfer = 0;
};

struct MachineJob {
    int tensor = 1, data = 1, stages = 1, microBatches = 1, gpusPerNode = 8;
    std::vector<MachineStage> of;
    /// kernels of a forward; a backward has twice as many
    int layers = 4;
    /// of each exchange of a tensor group, seconds; two a layer and pass
    double tensorExchange = 0;
    /// ranks of an expert group, of consecutive replicas; 1: none
    int expert = 1;
    /// of a layer's computing
    double expertShare = 0.5;
    /// one exchange with experts, seconds; two a layer and pass
    double expertExchange = 0;
    /// seconds of the host for each launch; at the beginning of each step
    double launch = 5e-6, stepOfHost = 1e-4;
    double transferBytes = 1e6;
    int steps = 7;
};

enum class MachineCause : std::uint8_t {
    None,
    SlowStage,
    SlowRank,
    SlowLink,
    CongestedFabric,
    HostBound,
    Experts,
    Throttling,
    WrongPlan
};

struct MachineTrouble {
    MachineCause cause = MachineCause::None;
    /// 0.05 to 0.4
    double severity = 0;
    int stage = 0, replica = 0, tensor = 0;
    /// of experts: another rank in each layer gets most, else always the same
    bool wanders = false;
};

struct MachineNoise {
    std::uint64_t seed = 1;
    /// standard deviations of logarithms
    double kernel = 0.02, exchange = 0.03, host = 0.1, tokens = 0.01;
    /// ns: how far ends of one exchange lie apart; ns: clocks, either way
    double end = 1000, clock = 2e6;
};

struct MachineRun {
    /// of a trainyard.recording, unpacked
    std::string text;
    /// from the end of the first step to that of the last, over steps - 1
    double stepSeconds = 0;
};

/// Without `writes` only the seconds are made.
[[nodiscard]] MachineRun runMachine(
    const MachineJob &job, const MachineTrouble &trouble, const MachineNoise &noise, bool writes = true);

/// Rank of a place: tensor fastest, then data, then stages.
[[nodiscard]] inline int rankAt(const MachineJob &job, int stage, int replica, int tensor)
{
    return (stage * job.data + replica) * job.tensor + tensor;
}

} // namespace trainyard::test
