#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a device holds that goes through its order of work, before anything has run, and the parts of the fullest moment
// of either walk (core/engine/timeline/memory_walk.h).

#include "core/engine/timeline/memory_walk.h"
#include "core/iteration/memory/op_memory.h"

namespace trainyard {

/// With opportunistic forwards, of the order in which it holds most: every forward before the first gradient, but for
/// the last device, which makes its gradients itself.
[[nodiscard]] LiveOverTime liveInOrder(const Program &program, int device, const OpMemory &memory, bool isRecomputing);

/// What is held at the peak, part by part. `memory` is what told the tasks their bytes.
[[nodiscard]] LiveBytes fullestMoment(
    const LiveOverTime &live, const Timeline &timeline, int pipelineClass, int stage, const OpMemory &memory);
[[nodiscard]] LiveBytes fullestMoment(
    const LiveOverTime &live, const Program &program, int device, const OpMemory &memory, bool isRecomputing);

} // namespace trainyard
