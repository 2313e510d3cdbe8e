// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/prefill/idle_prompt.h"

#include "core/iteration/prefill/serving_plan_internal.h"

#include <algorithm>

namespace trainyard {

std::optional<IdlePrompt> shortestPrompt(const Workload &workload, const Catalogue &catalogue, Nanoseconds period)
{
    const Plan &plan = *workload.plan;
    const BubbleFill &fill = plan.bubbleFill;
    const auto service = resolveBubbleService(plan, catalogue);
    if (!service || !*service)
        return {};
    IdlePrompt prompt { .tokens = fill.promptTokens, .slice = {} };
    if (fill.arrivals == Arrivals::Trace) {
        const std::vector<PrefillRequest> requests = arrivals(fill, period, (*service)->trace);
        if (requests.empty())
            return {};
        prompt.tokens = std::ranges::min_element(requests, {}, &PrefillRequest::tokens)->tokens;
    }
    for (const PipelineClass &c : workload.layout.classes) {
        for (const StageLocation &location : c.locations) {
            const SliceTime slice =
                sliceOn(workload, (*service)->models.front(), prompt.tokens, location, fitsTensorGroup(workload));
            const Nanoseconds time = fill.stages * slice.compute + (fill.stages - 1) * slice.hop
                + (fill.firstTokenFromDecode ? slice.kvMove : 0);
            if (time < prompt.firstToken) {
                prompt.firstToken = time;
                prompt.slice = slice;
            }
        }
    }
    return prompt;
}

} // namespace trainyard
