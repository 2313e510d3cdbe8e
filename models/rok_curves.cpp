// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/rok_curves.h"

#include "core/base/words.h"
#include "core/evaluation/evaluate/comparable.h"

#include <algorithm>
#include <array>
#include <functional>

namespace trainyard {

RokSearch::RokSearch(const Catalogue &catalogue, QObject *parent)
    : QObject(parent)
    , m_catalogue(catalogue)
    , m_worker(std::bind_front(&RokSearch::search, this))
{
}

void RokSearch::search(const PlanPtr &plan, EvaluationWorkspace &workspace, const std::stop_token &stop,
    const WatchedWorker::Deliver &deliver)
{
    RokCurves curves;
    curves.plan = plan;
    const auto publish = [&] {
        deliver([this, shared = std::make_shared<const RokCurves>(curves)] { Q_EMIT curvesChanged(shared); });
    };
    curves.nothing = QString::fromStdString(whyNoRok(*plan));
    std::array<std::vector<RokPoint>, kActivationWays> waiting;
    for (int way = 0; way < kActivationWays && curves.nothing.isEmpty(); ++way)
        waiting[std::size_t(way)] = rokPlans(plan, ActivationWay(way));
    std::size_t longest = 0;
    for (const auto &points : waiting)
        longest = std::max(longest, points.size());
    for (std::size_t i = 0; i < longest && curves.nothing.isEmpty();
         ++i) { // small micro-batches of all three first: they fit
        for (std::vector<RokPoint> &points : waiting) {
            if (i >= points.size())
                continue;
            RokPoint point = points[i];
            const auto answer = evaluate(point.plan, m_catalogue, workspace, stop, Depth::Score);
            if (stop.stop_requested())
                return;
            if (answer && curves.nothing.isEmpty())
                curves.nothing = QString::fromStdString(asSentence(whyNotCompared(**answer)));
            if (!answer || !readRokPoint(point, **answer))
                continue;
            // Larger ones fit even less; with offload up to a point, since tensors that are too small to leave grow
            // past the limit.
            constexpr double kHopeless = 1.5; // of the capacity
            const bool mayShrink =
                point.way == ActivationWay::Offload && double(point.device) < kHopeless * double(point.capacity);
            if (!point.fits && !mayShrink
                && std::ranges::none_of(points.begin() + std::ptrdiff_t(i), points.end(), &RokPoint::isCurrent))
                points.resize(i + 1);
            curves.points.push_back(std::move(point));
        }
        publish();
    }
    if (curves.points.empty() && curves.nothing.isEmpty())
        curves.nothing = tr("None of these plans can be evaluated");
    curves.isComplete = true;
    publish();
}

} // namespace trainyard
