// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/live_what_ifs.h"

#include "core/evaluation/advice/run_pool.h"
#include "core/evaluation/evaluate/run.h"
#include "core/runs/overlay/link_rates.h"

#include <algorithm>
#include <exception>
#include <functional>
#include <utility>

namespace trainyard {

namespace {

constexpr std::size_t kNewest = 5; // steps

/// The answer of one that was evaluated; why there is none, where it cannot run.
void judge(LiveWhatIf &one, const EvaluationPtr &staying, const ExpectedAll<EvaluationPtr> &found)
{
    if (!found) {
        one.failure = found.error().empty() ? std::string("it cannot be evaluated") : found.error().front().what;
        return;
    }
    one.evaluation = *found;
    if (!(*found)->metrics.iterationTime) {
        const auto &problems = (*found)->problems;
        one.failure = problems.empty() ? std::string("it cannot run") : problems.front().text;
        return;
    }
    one.answer = answerOf(one.asked, *staying, **found);
}

/// Of the newest steps, whichever is shown: one alone is noise, and an old one is not how it is now.
std::vector<LinkRate> ratesOfNow(const RunOverlay &overlay)
{
    std::vector<const RunStep *> newest;
    for (auto step = overlay.run->steps.rbegin(); step != overlay.run->steps.rend() && newest.size() < kNewest; ++step)
        if (step->hasSpans())
            newest.insert(newest.begin(), &*step);
    const RankMap map(*overlay.evaluation->plan, overlay.evaluation->layout, overlay.order);
    return LinkRates(*overlay.evaluation).of(*overlay.run, map, newest);
}

/// What an answer is told against: how it is now, but of how it is now the plan.
bool isOfNow(watch::WhatIfKind kind)
{
    return kind == watch::WhatIfKind::AsItIs || kind == watch::WhatIfKind::LinkStays;
}

} // namespace

LiveWhatIfs::LiveWhatIfs(const Catalogue &catalogue, QObject *parent)
    : QObject(parent)
    , m_catalogue(catalogue)
    , m_worker(RunPool::shared().threads(), WorkPool::Rank::Search,
          [this](const Request &request, const std::stop_token &stop) {
              try {
                  work(request, stop);
              } catch (const std::exception &) { // out of memory: the window lives on without these answers
                  RunPool::shared().renewWorkspace();
                  deliver(request.generation, [this] { m_isAsking = false; });
              }
          })
{
}

LiveWhatIfs::~LiveWhatIfs() = default;

void LiveWhatIfs::ask(const RunOverlayPtr &overlay, const std::vector<watch::Alarm> &alarms)
{
    if (!overlay || !overlay->evaluation)
        return;
    m_isAsking = true;
    m_worker.post(Request { ++m_generation, overlay, alarms }, true);
    emit changed();
}

void LiveWhatIfs::forget()
{
    ++m_generation;
    m_worker.post(std::nullopt, true);
    m_all.clear();
    m_evaluation = nullptr;
    m_step = -1;
    m_isAsking = false;
    emit changed();
}

void LiveWhatIfs::deliver(std::uint64_t generation, std::function<void()> take)
{
    QMetaObject::invokeMethod(
        this,
        [this, generation, take = std::move(take)] {
            if (generation != m_generation)
                return;
            take();
            emit changed();
        },
        Qt::QueuedConnection);
}

void LiveWhatIfs::work(const Request &request, const std::stop_token &stop)
{
    const RunOverlay &overlay = *request.overlay;
    const std::vector<RunStep> &steps = overlay.run->steps;
    const bool hasStep = overlay.step >= 0 && std::size_t(overlay.step) < steps.size();
    const std::int64_t number = hasStep ? steps[std::size_t(overlay.step)].number : -1;
    const std::vector<LinkRate> rates = ratesOfNow(overlay);
    std::vector<LiveWhatIf> all;
    for (watch::WhatIf &asked : watch::whatIfs(*overlay.evaluation, rates, request.alarms))
        all.push_back({ std::move(asked), nullptr, {}, {} });
    deliver(request.generation, [this, all, number, evaluation = overlay.evaluation] {
        m_all = all;
        m_step = number;
        m_evaluation = evaluation;
        m_isAsking = !m_all.empty();
    });
    RunPool &pool = RunPool::shared();
    const auto evaluated = [&](const PlanPtr &plan) {
        return run(plan, Depth::Score,
            { .catalogue = m_catalogue, .workspace = pool.workspace(), .stop = stop, .cache = &pool.cache() });
    };
    // What staying costs is asked first: losses and moves are told against it.
    EvaluationPtr staying = overlay.evaluation;
    const auto own =
        std::ranges::find(all, watch::WhatIfKind::AsItIs, [](const LiveWhatIf &one) { return one.asked.kind; });
    if (own != all.end() && own->asked.plan)
        if (const auto found = evaluated(own->asked.plan); found && (*found)->metrics.iterationTime)
            staying = *found;
    for (std::size_t i = 0; i < all.size() && !stop.stop_requested(); ++i) {
        if (!all[i].asked.plan)
            continue;
        judge(all[i], isOfNow(all[i].asked.kind) ? overlay.evaluation : staying, evaluated(all[i].asked.plan));
        if (!stop.stop_requested())
            deliver(request.generation, [this, i, one = all[i]] { m_all[i] = one; });
    }
    if (!stop.stop_requested())
        deliver(request.generation, [this] { m_isAsking = false; });
}

} // namespace trainyard
