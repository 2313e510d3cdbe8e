// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/prefill/bubble_fill.h"

#include "core/facts/plan/named_files.h"
#include "core/iteration/placement/resolve_model.h"
#include "core/iteration/prefill/fill_metrics_internal.h"
#include "core/iteration/prefill/trace_file.h"

#include <algorithm>

namespace trainyard {

namespace {

using Spans = std::vector<FreeWindow>;

/// In two where it goes on in the next iteration.
void addAround(Spans &spans, Nanoseconds from, Nanoseconds to, Nanoseconds period)
{
    spans.push_back({ from, std::min(to, period) });
    if (to > period)
        spans.push_back({ 0, to - period });
}

/// What the first GPU of each location serves.
std::vector<Spans> firstGpuSpans(const ServingSetup &setup, const AdmittedRequests &admission)
{
    std::vector<Spans> spans(setup.free.locations.size());
    forEachSlice(setup, admission, [&](const GroupMember &member, Nanoseconds from, Nanoseconds to) {
        if (member.gpu == 0)
            addAround(spans[std::size_t(member.location)], from, to, setup.free.period);
    });
    for (Spans &ofLocation : spans)
        std::ranges::sort(ofLocation);
    return spans;
}

void appendTrack(Timeline &timeline, const AdmissionWindows &location, const Spans &spans)
{
    const auto first = std::uint32_t(timeline.spanCount());
    for (const FreeWindow &span : spans) {
        timeline.start.push_back(span.start);
        timeline.end.push_back(span.end);
    }
    const std::size_t count = timeline.spanCount();
    timeline.kind.resize(count, WorkKind::Prefill);
    timeline.microBatch.resize(count, -1);
    timeline.chunk.resize(count, 0);
    if (!timeline.pairedMicroBatch.empty()) {
        timeline.pairedMicroBatch.resize(count, -1);
        timeline.pairedChunk.resize(count, 0);
    }
    timeline.cause.resize(count, kNoSpan);
    timeline.trackOf.resize(count, std::uint32_t(timeline.tracks.size()));
    if (!timeline.origin.empty())
        timeline.origin.resize(count, kNoSpan);
    if (!timeline.moved.empty())
        timeline.moved.resize(count, 1);
    if (!timeline.taskClass.empty())
        timeline.taskClass.resize(count, kNoSpan);
    if (!timeline.isVoid.empty())
        timeline.isVoid.resize(count, 0);
    timeline.tracks.push_back({ .stream = Stream::Prefill,
        .pipelineClass = location.pipelineClass,
        .stage = location.stage,
        .first = first,
        .last = std::uint32_t(count) });
    timeline.fingerprint = 0;
}

void addModel(BubbleService &service, Errors &errors, const Plan &plan, const Catalogue &catalogue,
    const std::string &name, const std::string &where)
{
    if (auto model = resolveModel(name, plan.baseDir, catalogue)) {
        if (const Doubt *doubt = blockingDoubt(model->doubts))
            errors.push_back({ ErrorCode::BadValue, where, "not understood of the model: " + toString(*doubt),
                "a model that is described whole" });
        service.models.push_back(std::move(*model));
        return;
    } else {
        errors.push_back(model.error());
    }
    if (errors.back().code == ErrorCode::UnknownName)
        errors.back().where = where;
}

void addDecodeGpu(BubbleService &service, Errors &errors, const Plan &plan, const Catalogue &catalogue)
{
    std::string id = plan.bubbleFill.decode.gpu;
    for (const Datacenter &datacenter : plan.cluster.datacenters)
        if (id.empty() && !datacenter.pools.empty())
            id = datacenter.pools.front().gpu;
    if (const GpuSpec *gpu = catalogue.gpu(id))
        service.decodeGpu = *gpu;
    else
        errors.push_back({ ErrorCode::UnknownName, "bubble_fill.decode.gpu", "no GPU is called \"" + id + "\"",
            "a GPU of the catalogue" });
}

} // namespace

ExpectedAll<std::optional<BubbleService>> resolveBubbleService(const Plan &plan, const Catalogue &catalogue)
{
    const BubbleFill &fill = plan.bubbleFill;
    if (!fill.enabled || fill.model.empty())
        return std::nullopt;
    BubbleService service;
    Errors errors;
    addModel(service, errors, plan, catalogue, fill.model, "bubble_fill.model");
    for (std::size_t i = 0; i < fill.served.size(); ++i)
        addModel(service, errors, plan, catalogue, fill.served[i].model,
            "bubble_fill.served[" + std::to_string(i) + "].model");
    if (fill.decode.gpus)
        addDecodeGpu(service, errors, plan, catalogue);
    if (fill.arrivals == Arrivals::Trace) {
        if (fill.trace.empty())
            errors.push_back({ ErrorCode::BadValue, "bubble_fill.trace", "no trace is named",
                "a CSV file with the columns time_s,prompt_tokens" });
        else if (auto trace = readRequestTrace(fileOf(plan, fill.trace).string()))
            service.trace = std::move(*trace);
        else
            errors.insert(errors.end(), trace.error().begin(), trace.error().end());
    }
    if (!errors.empty())
        return std::unexpected(std::move(errors));
    return service;
}

std::optional<FilledBubbles> fillBubbles(Timeline &timeline, const Workload &workload,
    const std::vector<StageMemory> &memory, const BubbleService &service, const std::stop_token &stop,
    Afterwards afterwards)
{
    if (timeline.duration <= 0)
        return {};
    const ServingSetup setup = servingSetup(workload, timeline, memory, service, afterwards);
    const AdmittedRequests admission = admitRequests(setup.plan, setup.sized, stop);
    if (stop.stop_requested())
        return {};
    FilledBubbles filled { fillMetrics(workload, setup, admission), prefillGpuSeconds(setup, admission) };
    filled.metrics.trainingDelay = toSeconds(trainingDelay(timeline, setup, admission)).value;
    const std::vector<Spans> spans = firstGpuSpans(setup, admission);
    for (std::size_t s = 0; s < spans.size(); ++s) {
        if (!spans[s].empty())
            appendTrack(timeline, setup.free.locations[s], spans[s]);
    }
    return filled;
}

} // namespace trainyard
