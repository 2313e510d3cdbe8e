#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the graph builder needs to know of activations that leave the GPU between forward and backward (SSDTrain,
// arXiv 2408.10013): operations cut into modules, the time to move what each module keeps, and the way that it takes.
// Plain values; core/iteration/offload makes them.

#include "core/base/units.h"

#include <cstdint>
#include <vector>

namespace trainyard {

/// Modules of an operation that run one after the other, and the move of what they keep for the backward pass.
struct OffloadSegment {
    Nanoseconds forward = 0, recompute = 0;
    Nanoseconds backward =
        0; // of the backward or, where the program splits it, of the input gradient; recomputation apart
    /// alone on their way; both 0: nothing leaves
    Nanoseconds store = 0, load = 0;
    /// not stored where the backward of the same micro-batch follows the forward at once
    bool staysAtTurn = false;
    /// segments with the same number are loaded together; falls towards the first segment
    int group = 0;
    /// a later segment of the operation, whose forward begins after this store has ended; -1: none
    int releases = -1;
    /// that leave
    double bytes = 0;
    bool operator==(const OffloadSegment &) const = default;
};

/// The way of one GPU of a device to its drives or its host memory.
struct OffloadPath {
    /// bytes/s, what the GPU can take beside the others of its stage
    double storeCap = 0, loadCap = 0;
    /// GPUs of the stage that share the links below
    double weight = 1;
    std::vector<std::uint32_t> storeLinks,
        loadLinks; // indices into IterationCosts::linkCapacity: drives, PCIe switches
    bool operator==(const OffloadPath &) const = default;
};

struct OffloadTimes { // of one class of pipelines; empty where everything stays
    std::vector<std::vector<OffloadSegment>>
        ops; // [device * chunks + chunk] in the order of the forward; empty: not cut
    /// [device]
    std::vector<OffloadPath> paths;
    std::vector<int>
        ahead; // [device]: a group is loaded when the backward of the group so many places before it starts
    [[nodiscard]] bool isEmpty() const { return ops.empty(); }
};

} // namespace trainyard
