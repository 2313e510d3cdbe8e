// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/alarms/watchman.h"

#include "core/base/median.h"
#include "core/evaluation/evaluate/evaluation.h"
#include "core/live/alarms/drift_watch.h"
#include "core/live/alarms/hardware_watch.h"
#include "core/live/alarms/memory_watch.h"
#include "core/live/alarms/peer_links.h"
#include "core/live/alarms/silence_watch.h"
#include "core/live/alarms/step_alarms.h"
#include "core/live/alarms/step_facts.h"

#include <algorithm>
#include <limits>
#include <span>

namespace trainyard::watch {

namespace {

constexpr std::size_t kMostFigures = 65'536;

/// The older half: of each four steps the shortest and the longest.
void thin(std::vector<Watchman::StepFigures> &figures)
{
    const std::size_t half = figures.size() / 8 * 4;
    std::vector<Watchman::StepFigures> kept;
    for (std::size_t i = 0; i < half; i += 4) {
        const auto first = figures.begin() + static_cast<std::ptrdiff_t>(i);
        const auto [least, most] =
            std::minmax_element(first, first + 4, [](const auto &a, const auto &b) { return a.seconds < b.seconds; });
        kept.push_back(*std::min(least, most));
        kept.push_back(*std::max(least, most));
    }
    kept.insert(kept.end(), figures.begin() + static_cast<std::ptrdiff_t>(half), figures.end());
    figures = std::move(kept);
}

} // namespace

struct Watchman::Private {
    explicit Private(const WatchOptions &asked)
        : options(asked)
        , places(options)
        , drift(options)
        , memory(options)
        , hardware(options)
        , peerLinks(asked.leastSteps)
        , silence(options)
    {
        constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
        predicted = { 0, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone };
    }

    /// Whether it is another one.
    bool setPlan(const EvaluationPtr &next, const Run &run)
    {
        if (next == evaluation)
            return false;
        const bool isSamePlan = next && evaluation && *next->plan == *evaluation->plan;
        if (!isSamePlan) {
            places.forgetPlan(book, run.steps.empty() ? 0 : run.steps.front().number);
            drift.forgetPlan();
        }
        links.reset();
        evaluation = next;
        if (next)
            links.emplace(*next);
        constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
        predicted = next ? figuresOf(*next) : StepFigures { 0, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone };
        return !isSamePlan;
    }

    /// Steps that were seen under another plan, held against this one.
    void judgeAgain(std::span<const RunStep> steps, const WatchedPlan &watched, const Sentences &say)
    {
        for (const RunStep &step : steps) {
            const StepFacts facts = factsOf(watched, step);
            places.addAgain(facts, watched, say, book);
            places.settle(say, book, false);
            drift.add(facts, watched, say, book);
        }
    }

    /// A run that began anew counts from there on; steps after that are of the attempt before. Who has not been heard
    /// for long may be gone with that attempt, and what it said last counts no more. Of a log alone nobody is heard by
    /// step: its newest tells.
    void noticeRestart(const Run &run, const std::vector<Heard> &heard)
    {
        constexpr double kLeastSeconds = 10;
        Moment latest = 0;
        for (const Heard &one : heard)
            latest = std::max(latest, one.at);
        const double patience =
            std::max(kLeastSeconds, options.rules.threshold(RuleId::Silent) * places.stepSeconds()) * 1e9;
        std::int64_t newest = -1;
        for (const Heard &one : heard)
            if (static_cast<double>(latest - one.at) <= patience)
                newest = std::max(newest, one.step);
        if (newest < 0 && !run.steps.empty())
            newest = run.steps.back().number;
        if (newest >= 0 && newest < newestHeard) {
            constexpr std::int64_t kBetweenLooks = 8; // steps that it may have made already
            const std::int64_t back = newestHeard - newest + kBetweenLooks;
            lastSeen = std::max<std::int64_t>(-1, lastSeen - back);
            std::erase_if(figures, [&](const StepFigures &one) { return one.number > lastSeen; });
            memory.forgetBehind(lastSeen);
        }
        if (newest >= 0)
            newestHeard = newest;
    }

    /// Of a live run the newest steps may not be told by all yet: they wait for two newer ones.
    [[nodiscard]] std::size_t complete(const Run &run, const std::vector<Heard> &heard) const
    {
        std::size_t end = stepsThatCount(run);
        if (heard.empty() || end == 0)
            return end;
        std::size_t most = 0;
        for (std::size_t i = end - std::min<std::size_t>(end, 16); i < end; ++i)
            most = std::max(most, run.steps[i].ranks.size());
        for (int held = 0; held < 2 && end > 0; ++held) {
            if (run.steps[end - 1].ranks.size() >= most)
                break;
            --end;
        }
        return end;
    }

    /// Whose rule is on, and which held as long as that wants: by the sender's clock, silence by ours.
    void tellThoseThatHeld(Moment now)
    {
        const Moment newest = std::max(newestStep, hardware.newest());
        told.clear();
        for (const Alarm &alarm : book.alarms()) {
            const AlarmRule &rule = options.rules[alarm.rule()];
            const Moment latest = alarm.isOver() ? alarm.until : alarm.kind == AlarmKind::Silent ? now : newest;
            const bool isLong = rule.holdSeconds == 0 || alarm.since == 0
                || static_cast<double>(latest - alarm.since) >= rule.holdSeconds * 1e9;
            if (rule.isOn && isLong)
                told.push_back(alarm);
        }
    }

    WatchOptions options;
    AlarmList book;
    StepAlarms places;
    DriftWatch drift;
    MemoryWatch memory;
    HardwareWatch hardware;
    PeerLinks peerLinks;
    SilenceWatch silence;
    /// of all, those that are told
    std::vector<Alarm> told;
    /// that a step was seen at, Unix ns
    Moment newestStep = 0;
    EvaluationPtr evaluation;
    std::optional<LinkRates> links;
    std::vector<StepFigures> figures;
    StepFigures predicted;
    std::int64_t lastSeen = std::numeric_limits<std::int64_t>::min(), newestHeard = -1;
};

Watchman::Watchman(const WatchOptions &options)
    : d(std::make_unique<Private>(options))
{
}

Watchman::~Watchman() = default;

void Watchman::look(const RunOverlay &overlay, const std::vector<Heard> &heard, Moment now)
{
    if (!overlay.run || !overlay.run->recording)
        return;
    const Run &run = *overlay.run;
    const bool isOtherPlan = d->setPlan(overlay.evaluation, run);
    d->noticeRestart(run, heard);
    const std::size_t end = d->complete(run, heard);
    auto first = static_cast<std::size_t>(
        std::ranges::upper_bound(run.steps, d->lastSeen, {}, &RunStep::number) - run.steps.begin());
    const std::span seenBefore(run.steps.data(), isOtherPlan ? std::min(first, end) : 0);
    WatchedPlan watched = watchedPlan(overlay, d->links ? &*d->links : nullptr, first < end || !seenBefore.empty());
    const Sentences say(watched, d->options.utcOffsetSeconds);
    d->judgeAgain(seenBefore, watched, say);
    std::vector<MemoryWatch::Seen> seen;
    const std::size_t before = d->figures.size();
    for (; first < end; ++first) {
        const RunStep &step = run.steps[first];
        StepFacts facts = factsOf(watched, step);
        d->places.add(facts, watched, say, d->book);
        d->places.settle(say, d->book, false);
        d->drift.add(facts, watched, say, d->book);
        seen.push_back({ step.number, step.start, facts.at });
        d->figures.push_back(facts.figures);
        d->lastSeen = step.number;
        d->newestStep = std::max(d->newestStep, facts.at);
    }
    const double capacity = overlay.evaluation && overlay.evaluation->metrics.memory
        ? static_cast<double>(overlay.evaluation->metrics.memory->capacity)
        : 0;
    d->memory.look(*run.recording, seen, capacity, say, d->book);
    d->hardware.look(*run.recording, say, d->book);
    for (std::size_t i = std::min(before, d->figures.size()); i < d->figures.size(); ++i)
        d->figures[i].peakBytes = d->memory.peakOf(d->figures[i].number);
    if (d->figures.size() > kMostFigures)
        thin(d->figures);
    if (!seen.empty() || !seenBefore.empty())
        d->peerLinks.look(overlay, static_cast<int>(seen.size()), say, d->book);
    d->places.settle(say, d->book, heard.empty());
    d->silence.look(heard, now, d->places.stepSeconds(), say, d->book);
    for (Alarm &alarm : d->book.all())
        if (!alarm.isOver() && alarm.kind != AlarmKind::Silent && (!seen.empty() || !seenBefore.empty()))
            alarm.lastStep = std::max(alarm.firstStep, d->lastSeen);
    d->book.sort();
    d->tellThoseThatHeld(now);
}

void Watchman::setRules(const AlarmRules &rules)
{
    d->options.rules = rules;
}

const std::vector<Alarm> &Watchman::alarms() const
{
    return d->told;
}

const std::vector<Watchman::StepFigures> &Watchman::steps() const
{
    return d->figures;
}

const Watchman::StepFigures &Watchman::predicted() const
{
    return d->predicted;
}

std::size_t stepsThatCount(const Run &run)
{
    const auto latest = std::ranges::max_element(run.steps, {}, &RunStep::start);
    if (latest == run.steps.end() || !latest->hasSpans())
        return run.steps.size();
    const auto next = std::next(latest);
    return next == run.steps.end() || !next->hasSpans() ? run.steps.size() : std::size_t(next - run.steps.begin());
}

std::vector<LinkRate> linkRates(const RunOverlay &overlay, const RunStep &step)
{
    if (!overlay.evaluation || !overlay.run || !step.hasSpans())
        return {};
    const LinkRates links(*overlay.evaluation);
    const RankMap map(*overlay.evaluation->plan, overlay.evaluation->layout, overlay.order);
    const RunStep *own = &step;
    return links.of(*overlay.run, map, { &own, 1 });
}

} // namespace trainyard::watch
