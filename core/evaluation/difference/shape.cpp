// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/difference/shape.h"

#include "core/base/words.h"
#include "core/iteration/placement/degrees.h"

#include <algorithm>

namespace trainyard {

namespace {

struct Shape {
    bool hasJobs = false;
    std::int64_t replicas = 0, stages = 0;
    /// of the fullest replica, and of all
    std::int64_t mostMicroBatches = 0, microBatches = 0;
    std::int64_t virtualStages = 1, slices = 1, copies = 1;
    std::int64_t minibatchesPerSpan = 1;
};

Shape shapeOf(const Evaluation &evaluation)
{
    Shape shape;
    shape.hasJobs = evaluation.metrics.jobs.has_value();
    for (const PipelineClass &pipelines : evaluation.layout.classes) {
        shape.replicas += pipelines.pipelines;
        shape.stages = std::max(shape.stages, std::int64_t(pipelines.locations.size()));
        shape.mostMicroBatches = std::max(shape.mostMicroBatches, std::int64_t { pipelines.microBatches });
        shape.microBatches += std::int64_t { pipelines.microBatches } * pipelines.pipelines;
    }
    if (shape.hasJobs) {
        shape.minibatchesPerSpan = evaluation.metrics.jobs->minibatchesPerSpan;
        return shape;
    }
    const Degrees degrees = degreesOf(*evaluation.plan);
    shape.virtualStages = degrees.chunks;
    shape.slices = degrees.slices;
    shape.copies = degrees.copies;
    return shape;
}

class Differences {
public:
    /// "8 replicas instead of 4" where the two are not the same.
    void compare(std::int64_t before, std::int64_t after, const char *one, const char *many)
    {
        if (before != after)
            m_all.push_back(
                std::to_string(after) + " " + (after == 1 ? one : many) + " instead of " + std::to_string(before));
    }
    void add(std::string what) { m_all.push_back(std::move(what)); }
    [[nodiscard]] std::string text() const { return joined(m_all, ", "); }

private:
    std::vector<std::string> m_all;
};

void compareIterations(Differences &differences, const Shape &before, const Shape &after)
{
    differences.compare(before.replicas, after.replicas, "replica", "replicas");
    differences.compare(before.stages, after.stages, "stage", "stages");
    if (before.mostMicroBatches != after.mostMicroBatches)
        differences.compare(
            before.mostMicroBatches, after.mostMicroBatches, "micro-batch per replica", "micro-batches per replica");
    else if (before.replicas == after.replicas)
        differences.compare(before.microBatches, after.microBatches, "micro-batch", "micro-batches");
    differences.compare(
        before.virtualStages, after.virtualStages, "virtual stage per stage", "virtual stages per stage");
    differences.compare(before.slices, after.slices, "slice of a sequence", "slices of a sequence");
    differences.compare(before.copies, after.copies, "copy of the model", "copies of the model");
}

} // namespace

ShapeDifference shapeDifference(const Evaluation &before, const Evaluation &after)
{
    const Shape first = shapeOf(before), second = shapeOf(after);
    Differences differences;
    if (before.timeline.isEmpty() != after.timeline.isEmpty())
        differences.add(
            before.timeline.isEmpty() ? "the first plan has no timeline" : "the second plan has no timeline");
    else if (first.hasJobs != second.hasJobs)
        differences.add(second.hasJobs ? "jobs instead of one training" : "one training instead of jobs");
    else if (first.hasJobs) {
        differences.compare(first.stages, second.stages, "GPU", "GPUs");
        differences.compare(
            first.minibatchesPerSpan, second.minibatchesPerSpan, "mini-batch per span", "mini-batches per span");
    } else
        compareIterations(differences, first, second);
    const bool haveBoth = !before.timeline.isEmpty() && !after.timeline.isEmpty();
    return { differences.text(), first.hasJobs != second.hasJobs || (haveBoth && first.stages != second.stages) };
}

} // namespace trainyard
