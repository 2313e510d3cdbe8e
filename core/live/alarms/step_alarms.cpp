// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/alarms/step_alarms.h"

#include "core/base/median.h"
#include "core/evaluation/evaluate/evaluation.h"

#include <algorithm>
#include <cmath>

namespace trainyard::watch {

namespace {

constexpr std::size_t kMostRanks = 65'536;
constexpr double kLeastOfStep = 0.02; // that a link's transfers have to cost
constexpr double kLeastRatio = 0.01; // of a rank's computing

bool isCause(const Alarm &alarm)
{
    return alarm.kind == AlarmKind::SlowLink || alarm.kind == AlarmKind::Straggler || alarm.kind == AlarmKind::Silent;
}

} // namespace

StepAlarms::StepAlarms(const WatchOptions &options)
    : m_options(options)
    , m_step({ options.errors, options.leastSteps })
{
}

void StepAlarms::add(const StepFacts &facts, const WatchedPlan &watched, const Sentences &say, AlarmList &book)
{
    if (facts.isWarmUp || !(facts.figures.seconds > 0))
        return;
    for (Pending &one : m_pending)
        ++one.age;
    m_hasSpans = m_hasSpans || !facts.ranks.empty();
    addLinks(facts, say, book);
    addRanks(facts, say, book);
    addStep(facts);
    if (watched.plan())
        addRange(facts, *watched.plan(), book);
    addWaits(facts);
    for (const auto &[one, at] : m_ended)
        endOf(one, at, book);
    m_ended.clear();
}

void StepAlarms::addAgain(const StepFacts &facts, const WatchedPlan &watched, const Sentences &say, AlarmList &book)
{
    if (facts.isWarmUp || !(facts.figures.seconds > 0))
        return;
    for (Pending &one : m_pending)
        if (isOfPlan(one))
            ++one.age;
    addLinks(facts, say, book);
    if (watched.plan())
        addRange(facts, *watched.plan(), book);
    addWaits(facts);
    for (const auto &[one, at] : m_ended)
        endOf(one, at, book);
    m_ended.clear();
}

void StepAlarms::follow(const std::optional<LevelChange> &change, Pending made)
{
    if (!change)
        return;
    const auto known = std::ranges::find_if(
        m_pending, [&](const Pending &one) { return one.kind == made.kind && one.place == made.place; });
    if (change->kind == LevelChange::Kind::Over) {
        if (known != m_pending.end()) {
            m_ended.emplace_back(*known, change->first);
            m_pending.erase(known);
        }
        return;
    }
    if (known != m_pending.end()) {
        known->after = change->after;
        return;
    }
    made.first = change->first;
    made.before = change->before;
    made.after = change->after;
    m_pending.push_back(std::move(made));
}

void StepAlarms::addStep(const StepFacts &facts)
{
    const double usual = m_step.points() > 0 ? m_step.level() : facts.figures.seconds;
    follow(m_step.add({ facts.number, facts.at, facts.figures.seconds }, least(RuleId::StepTime) * usual),
        { .kind = AlarmKind::StepTime, .place = "steps" });
}

void StepAlarms::addRange(const StepFacts &facts, const Evaluation &plan, AlarmList &)
{
    const auto high = plan.metrics.confidence.iterationHigh;
    if (!high || !(*high > 0))
        return;
    const double limit = *high * (1 + least(RuleId::StepTime));
    Pending made { .kind = AlarmKind::StepTime, .place = "steps beyond the plan's range", .isOfRange = true };
    if (!m_isBeyondRange && !m_step.isRaised() && m_step.isAbove(limit)) {
        m_isBeyondRange = true;
        made.first = m_step.firstAbove(limit);
        made.before = *high;
        made.after = m_step.level();
        m_pending.push_back(std::move(made));
    } else if (m_isBeyondRange && m_step.isBelow(limit)) {
        m_isBeyondRange = false;
        follow(LevelChange { LevelChange::Kind::Over, { facts.number, facts.at, 0 }, 0, 0 }, std::move(made));
    }
}

void StepAlarms::addWaits(const StepFacts &facts)
{
    const double leastSeconds = least(RuleId::Waiting) * facts.figures.seconds;
    for (std::size_t stage = 0; stage < facts.stageWaits.size(); ++stage) {
        LevelWatch &level = m_stages.try_emplace(static_cast<int>(stage), rules()).first->second;
        follow(level.add({ facts.number, facts.at, facts.stageWaits[stage] }, leastSeconds),
            { .kind = AlarmKind::Waiting,
                .place = "stage " + std::to_string(stage + 1),
                .stage = static_cast<int>(stage) });
    }
}

void StepAlarms::addRanks(const StepFacts &facts, const Sentences &say, AlarmList &book)
{
    for (const RankFacts &one : facts.ranks) {
        if (one.rank < 0 || one.others < 1 || !(one.usualCompute > 0)
            || (m_ranks.size() >= kMostRanks && !m_ranks.contains(one.rank)))
            continue;
        RankLevels &own =
            m_ranks.try_emplace(one.rank, RankLevels { LevelWatch(rules()), LevelWatch(rules()) }).first->second;
        const double leastSeconds = least(RuleId::Straggler) * facts.figures.seconds;
        const auto watch = [&](LevelWatch &level, double value, double usual, double least, bool isHost) {
            const auto change = level.add({ facts.number, facts.at, value }, least);
            const std::string place = "rank " + std::to_string(one.rank) + (isHost ? " host" : "");
            if (change && change->kind == LevelChange::Kind::Over)
                return book.end(AlarmKind::Straggler, place, change->first.at, change->first.step - 1);
            const bool wasAbove = !level.isRaised() && level.isAbove(usual + least);
            if (!change && !wasAbove)
                return;
            Alarm alarm { .kind = AlarmKind::Straggler, .place = place, .ranks = { one.rank } };
            const Alarm *known = book.holding(AlarmKind::Straggler, place);
            const LevelPoint first = change ? change->first : level.firstAbove(usual + least);
            alarm.firstStep = known ? known->firstStep : first.step;
            alarm.since = known ? known->since : first.at;
            if (wasAbove)
                level.raise(usual);
            const double more = (change ? change->after : level.level()) - usual;
            if (more < least) { // it was quicker than the others before
                return;
            }
            alarm.share = isHost ? 0 : 1 + more;
            alarm.secondsPerStep = isHost ? more : more * one.usualCompute;
            alarm.sentence = isHost ? say.lateHost(alarm) : say.straggler(alarm, one.others);
            book.tell(std::move(alarm));
        };
        watch(own.compute, one.compute / one.usualCompute, 1, std::max(kLeastRatio, leastSeconds / one.usualCompute),
            false);
        watch(own.host, one.host - one.usualHost, 0, leastSeconds, true);
    }
}

StepAlarms::LinkLevels &StepAlarms::linkOf(int a, int b)
{
    return m_links.try_emplace(std::minmax(a, b), LinkLevels { { LevelWatch(rules()), LevelWatch(rules()) }, {}, {} })
        .first->second;
}

void StepAlarms::addLinks(const StepFacts &facts, const Sentences &say, AlarmList &book)
{
    constexpr std::size_t kMostWaits = 160;
    for (const LinkWait &wait : facts.linkWaits) {
        std::vector<WaitPoint> &all = linkOf(wait.from, wait.to).waits[{ wait.from, wait.to, wait.stage }];
        all.push_back({ facts.number, wait.seconds });
        if (all.size() > kMostWaits)
            all.erase(all.begin());
    }
    for (const LinkRate &rate : facts.links)
        if (rate.share() > 0)
            addLink(rate, facts, say, book);
}

void StepAlarms::addLink(const LinkRate &rate, const StepFacts &facts, const Sentences &say, AlarmList &book)
{
    LinkLevels &own = linkOf(rate.from, rate.to);
    const std::size_t way = rate.from < rate.to ? 0 : 1;
    LevelWatch &level = own.slowness[way];
    own.latest[way] = rate;
    const double slowness = this->least(RuleId::SlowLink);
    const double least = rate.plannedSeconds > 0
        ? std::max(slowness, kLeastOfStep * facts.figures.seconds / rate.plannedSeconds)
        : slowness;
    const std::string place = say.linkPlace(rate.from, rate.to);
    const auto change = level.add({ facts.number, facts.at, 1 / rate.share() }, least);
    if (change && change->kind == LevelChange::Kind::Over) {
        if (!own.slowness[1 - way].isRaised())
            book.end(AlarmKind::SlowLink, place, change->first.at, change->first.step - 1);
        return;
    }
    const bool wasSlow = !level.isRaised() && level.isAbove(1 + least);
    if ((!change && !wasSlow) || level.level() <= 1 + least)
        return;
    LevelPoint first = change ? change->first : level.firstAbove(1 + least);
    if (const Alarm *known = book.holding(AlarmKind::SlowLink, place))
        first = { known->firstStep, known->since, 0 };
    if (wasSlow)
        level.raise(1);
    tellLink(own, first, place, say, book);
}

void StepAlarms::tellLink(
    const LinkLevels &link, const LevelPoint &first, const std::string &place, const Sentences &say, AlarmList &book)
{
    Alarm alarm { .kind = AlarmKind::SlowLink, .place = place, .firstStep = first.step, .since = first.at };
    const auto way = static_cast<std::size_t>(link.slower());
    alarm.datacenter = link.latest[way].from;
    alarm.otherDatacenter = link.latest[way].to;
    alarm.share = 1 / link.slowness[way].level();
    std::optional<Sentences::Wait> most;
    for (const auto &[key, points] : link.waits) {
        std::vector<double> before, after;
        for (const WaitPoint &point : points)
            (point.step < first.step ? before : after).push_back(point.seconds);
        if (before.size() < 3 || after.empty())
            continue;
        const double more = medianOf(after) - medianOf(before);
        if (more > (most ? most->more : 0))
            most = { std::get<2>(key), std::get<0>(key), more };
    }
    if (most)
        alarm.secondsPerStep = most->more;
    alarm.sentence = say.slowLink(alarm, link.latest[way], most);
    book.tell(std::move(alarm));
}

/// Whoever slowed down about then; of steps that were beyond the plan's range from the start, whoever costs half of it.
const Alarm *StepAlarms::causeOf(const Pending &one, const AlarmList &book) const
{
    constexpr std::int64_t kNear = 8; // steps
    for (const Alarm &alarm : book.alarms()) {
        const bool isNear = std::abs(alarm.firstStep - one.first.step) <= kNear;
        const bool costsMost = one.isOfRange && alarm.secondsPerStep >= (one.after - one.before) / 2;
        if (isCause(alarm) && !alarm.isOver() && (isNear || costsMost))
            return &alarm;
    }
    return nullptr;
}

void StepAlarms::endOf(const Pending &one, const LevelPoint &at, AlarmList &book)
{
    book.end(one.kind, one.place, at.at, at.step - 1);
}

void StepAlarms::settle(const Sentences &say, AlarmList &book, bool isEnd)
{
    constexpr int kGrace = 5; // steps in which a cause may still be found
    const auto tell = [&](Pending &one) {
        Alarm alarm { .kind = one.kind, .place = one.place, .firstStep = one.first.step, .since = one.first.at };
        if (const Alarm *known = book.holding(one.kind, one.place); known)
            return;
        alarm.secondsPerStep = one.after - one.before;
        alarm.share = one.kind == AlarmKind::StepTime && one.before > 0 ? one.after / one.before : 0;
        alarm.sentence = one.kind == AlarmKind::Waiting ? say.waiting(alarm, one.stage, alarm.secondsPerStep)
            : one.isOfRange                             ? say.beyondRange(alarm, one.after)
                                                        : say.stepTime(alarm, one.before, one.after);
        book.tell(std::move(alarm));
    };
    const auto steps = std::ranges::find_if(
        m_pending, [](const Pending &one) { return one.kind == AlarmKind::StepTime && !one.isOfRange; });
    const double longer = steps == m_pending.end() ? 0 : steps->after - steps->before;
    Pending *waiting = nullptr; // the stage that waits most, of those that say where the time is
    for (Pending &one : m_pending) {
        const Alarm *cause = causeOf(one, book);
        one.isExplained = cause != nullptr;
        if (cause && one.kind == AlarmKind::StepTime && !one.isOfRange)
            book.holding(cause->kind, cause->place)->secondsPerStep = longer;
        if (cause)
            std::erase_if(book.all(), [&](const Alarm &alarm) { // told before its cause was found
                return alarm.kind == one.kind && alarm.place == one.place && !alarm.isOver();
            });
        if (!one.isExplained && one.kind == AlarmKind::Waiting && one.after - one.before >= longer / 2
            && (!waiting || one.after - one.before > waiting->after - waiting->before))
            waiting = &one;
    }
    for (Pending &one : m_pending) {
        if (one.isExplained || (!isEnd && m_hasSpans && one.age < kGrace))
            continue;
        const bool isWaiting = one.kind == AlarmKind::Waiting;
        const bool isTold = std::ranges::any_of(book.alarms(), [&](const Alarm &alarm) {
            return alarm.kind == AlarmKind::Waiting && !alarm.isOver() && alarm.place != one.place;
        });
        if (isWaiting ? &one == waiting && !isTold : one.isOfRange || (!waiting && !isTold))
            tell(one);
    }
}

bool StepAlarms::isOfPlan(const Pending &one)
{
    return one.isOfRange || one.kind == AlarmKind::Waiting;
}

void StepAlarms::forgetPlan(AlarmList &book, std::int64_t firstStep)
{
    m_links.clear();
    m_stages.clear();
    m_isBeyondRange = false;
    std::erase_if(m_pending, isOfPlan);
    for (const AlarmKind kind : { AlarmKind::SlowLink, AlarmKind::Waiting, AlarmKind::Drift })
        book.forget(kind, firstStep);
    std::erase_if(book.all(), [&](const Alarm &alarm) {
        return alarm.kind == AlarmKind::StepTime && alarm.place != "steps"
            && (!alarm.isOver() || alarm.firstStep >= firstStep);
    });
}

} // namespace trainyard::watch
