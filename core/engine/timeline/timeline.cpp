// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/timeline/timeline.h"

namespace trainyard {

const std::array<WorkTraits, kWorkKindCount> kWorkTraits { {
    { "forward", TimeUse::Compute, WaitsSince::End },
    { "backward", TimeUse::Compute, WaitsSince::End },
    { "input gradient", TimeUse::Compute, WaitsSince::End },
    { "weight gradient", TimeUse::Compute, WaitsSince::End },
    { "recompute", TimeUse::Compute, WaitsSince::End },
    { "forward and backward", TimeUse::Compute, WaitsSince::End },
    { "pipeline transfer", TimeUse::Pipeline, WaitsSince::Cause },
    { "WAN transfer", TimeUse::Wan, WaitsSince::Origin },
    { "collective", TimeUse::Compute, WaitsSince::End },
    { "gradient sync", TimeUse::Reduce, WaitsSince::Start },
    { "parameter gather", TimeUse::Reduce, WaitsSince::Start },
    { "optimizer", TimeUse::Optimizer, WaitsSince::End },
    { "offload store", TimeUse::Offload, WaitsSince::Start },
    { "offload load", TimeUse::Offload, WaitsSince::Start },
    { "prefill", TimeUse::Bubble, WaitsSince::End },
    { "overhead", TimeUse::Overhead, WaitsSince::End },
    { "gradients to host", TimeUse::None, WaitsSince::End },
    { "states to host", TimeUse::None, WaitsSince::End },
    { "drive read", TimeUse::None, WaitsSince::End },
    { "drive write", TimeUse::None, WaitsSince::End },
    { "CPU optimizer", TimeUse::None, WaitsSince::End },
    { "GPU optimizer", TimeUse::None, WaitsSince::End },
    { "states to GPU", TimeUse::None, WaitsSince::End },
    { "weights to GPU", TimeUse::None, WaitsSince::End },
} };

} // namespace trainyard
