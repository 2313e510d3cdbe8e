#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Counts what the controller has admitted: shares of idle time, rates, times to first token, worth. Pure functions of
// values. Internal to core/iteration/prefill.

#include "core/iteration/prefill/serving_plan_internal.h"

namespace trainyard {

/// Calls visit(member, slice time, start) for every slice of every accepted request.
template <class Visit> void forEachSlice(const ServingSetup &setup, const AdmittedRequests &admission, Visit visit)
{
    std::size_t next = 0;
    for (const AdmittedRequests::Accepted &accepted : admission.accepted) {
        const PromptSize &size = setup.plan.sizes[std::size_t(setup.sized[accepted.request].size)];
        const ServingGroup &serving = setup.plan.groups[accepted.group];
        const std::vector<GroupMember> &members = setup.groups[accepted.group].members;
        for (std::size_t j = 0; j < members.size(); ++j)
            visit(members[j], size.onKind[std::size_t(serving.members[j].kind)], admission.sliceStarts[next++]);
    }
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
