// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/schedule/closed_forms.h"

#include <algorithm>

namespace trainyard {

namespace {

double hop(const FormPipeline &p, const FormBoundary &b)
{
    return b.isWan ? b.serialization / p.cell + b.scatter + b.latency : b.serialization + b.latency;
}

double wayThere(const FormPipeline &p)
{
    double sum = 0;
    for (const FormBoundary &b : p.boundaries)
        sum += hop(p, b);
    return sum;
}

double slowestLink(const FormPipeline &p)
{
    double slowest = 0;
    for (const FormBoundary &b : p.boundaries)
        slowest = b.isWan ? std::max(slowest, b.serialization) : slowest;
    return slowest;
}

/// The last stage has just made what its backward needs.
double recomputeOf(const FormPipeline &p, std::size_t stage)
{
    return stage + 1 < p.stages.size() || p.recomputesLastStage ? p.stages[stage].recompute : 0;
}

double slowestStage(const FormPipeline &p)
{
    double slowest = 0;
    for (std::size_t i = 0; i < p.stages.size(); ++i)
        slowest = std::max(slowest, p.stages[i].forward + p.stages[i].backward + recomputeOf(p, i));
    return slowest;
}

FormTime paced(double once, double microBatches, double compute, double link, double inFlight)
{
    const double pace = std::max({ compute, link, inFlight });
    return { once + (microBatches - 1) * pace,
        pace == compute    ? Bound::Compute
            : pace == link ? Bound::Link
                           : Bound::InFlight };
}

double inFlightOf(const FormPipeline &p, std::size_t stage)
{
    return p.inFlight.empty() ? p.microBatches : std::min(p.microBatches, std::max(1.0, p.inFlight[stage]));
}

} // namespace

const char *toString(Bound bound)
{
    return bound == Bound::Compute ? "compute" : bound == Bound::Link ? "link" : "pipeline depth";
}

FormTime gpipeTime(const FormPipeline &p)
{
    double fill = 2 * wayThere(p), forward = 0, backward = 0;
    for (const FormStage &stage : p.stages) {
        fill += stage.forward + stage.recompute + stage.backward;
        forward = std::max(forward, stage.forward);
        backward = std::max(backward, stage.recompute + stage.backward);
    }
    if (!p.recomputesLastStage && !p.stages.empty())
        fill -= p.stages.back().recompute;
    const double link = slowestLink(p);
    const double forwardPace = std::max(forward, link), backwardPace = std::max(backward, link);
    const bool linkBinds = forwardPace + backwardPace > forward + backward;
    return { fill + (p.microBatches - 1) * (forwardPace + backwardPace), linkBinds ? Bound::Link : Bound::Compute };
}

std::vector<double> loopTimes(const FormPipeline &p)
{
    std::vector<double> loops(p.stages.size());
    double loop = 0;
    for (std::size_t i = p.stages.size(); i-- > 0;) {
        loop += p.stages[i].forward + p.stages[i].backward + recomputeOf(p, i);
        if (i < p.boundaries.size())
            loop += 2 * hop(p, p.boundaries[i]);
        loops[i] = loop;
    }
    return loops;
}

FormTime inFlightLimitedTime(const FormPipeline &p)
{
    const std::vector<double> loops = loopTimes(p);
    double inFlight = 0;
    for (std::size_t i = 0; i < loops.size(); ++i)
        inFlight = std::max(inFlight, loops[i] / inFlightOf(p, i));
    return paced(loops.empty() ? 0 : loops.front(), p.microBatches, slowestStage(p), slowestLink(p), inFlight);
}

FormTime interleavedTime(const FormPipeline &p)
{
    const double compute = slowestStage(p), link = slowestLink(p) * p.chunks;
    double fill = -compute;
    for (std::size_t i = 0; i < p.stages.size(); ++i)
        fill += p.stages[i].forward + p.stages[i].backward + recomputeOf(p, i);
    const double pace = std::max(compute, link);
    return { p.microBatches * pace + fill / p.chunks + 2 * wayThere(p),
        pace == compute ? Bound::Compute : Bound::Link };
}

FormTime cellTime(const FormPipeline &p)
{
    const std::vector<double> loops = loopTimes(p);
    double once = 2 * wayThere(p), inFlight = 0;
    for (const FormStage &stage : p.stages)
        once += stage.forward + stage.backward;
    for (std::size_t i = 0; i < loops.size(); ++i)
        if (const double most = inFlightOf(p, i); most < p.microBatches)
            inFlight = std::max(inFlight, loops[i] / most);
    const double link = slowestLink(p);
    once += (p.cell - 1) * link / p.cell; // the last pipeline of the cell waits for the turns of the others
    return paced(once, p.microBatches, slowestStage(p), link, inFlight);
}

} // namespace trainyard
