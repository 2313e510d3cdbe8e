#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What each call of an operator of the host had its GPU do: the kernels that were launched while it was the innermost
// one that was open on its thread. Numbers that operators and kernels share mean different things in traces of
// different years, so that the launching call and its time decide. It needs a recording with its host's spans
// (SourceOptions::keepsHostSpans). Any thread.

#include "core/runs/telemetry/recording.h"

namespace trainyard {

/// Kernels and copies of one call, without collectives.
struct OperatorCall {
    /// of RankRecording::streams and its spans: the operator
    std::uint32_t stream = 0, span = 0;
    std::int64_t kernels = 0;
    /// ns, of all of them
    std::int64_t total = 0;
    /// Recording::names, of the longest; its ns
    std::uint32_t kernel = kNoIndex;
    std::int64_t longest = 0;
};

struct OperatorCalls {
    /// Of operators that tell their tensors; those that launched nothing are left out.
    std::vector<OperatorCall> calls;
    /// ns: of all kernels and copies but collectives, and of those that no such call launched
    double total = 0, untold = 0;
    /// operators and calls of the host were read; some operator tells its tensors
    bool hasHost = false, hasTensors = false;
};
[[nodiscard]] OperatorCalls operatorCalls(const RankRecording &rank);

} // namespace trainyard
