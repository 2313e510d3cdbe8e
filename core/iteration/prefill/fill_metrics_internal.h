#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Counts what the controller has admitted: shares of idle time, rates, times to first token, worth. Pure functions of
// values. Internal to core/iteration/prefill.

#include "core/iteration/prefill/serving_plan_internal.h"

namespace trainyard {

/// Calls visit(member, from, to) for every slice that a GPU serves in one iteration.
template <class Visit> void forEachSlice(const ServingSetup &setup, const AdmittedRequests &admission, Visit visit)
{
    for (const AdmittedRequests::Slice &slice : admission.slices)
        visit(setup.groups[slice.group].members[slice.member], slice.from, slice.to);
}

/// GPU seconds of prefill in one iteration.
[[nodiscard]] double prefillGpuSeconds(const ServingSetup &setup, const AdmittedRequests &admission);

/// Everything but the training delay.
[[nodiscard]] BubbleFillMetrics fillMetrics(
    const Workload &workload, const ServingSetup &setup, const AdmittedRequests &admission);

/// The longest that a training span would have to wait for prefill on its GPU, from the spans themselves: 0 where no
/// slice reaches into one.
[[nodiscard]] Nanoseconds trainingDelay(
    const Timeline &timeline, const ServingSetup &setup, const AdmittedRequests &admission);

} // namespace trainyard
