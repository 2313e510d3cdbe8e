// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/alarms/drift_watch.h"

#include "core/base/number_text.h"
#include "core/base/words.h"
#include "core/facts/plan/calibration.h"

#include <algorithm>
#include <cmath>

namespace trainyard::watch {

namespace {

constexpr int kForLong = 24; // steps
constexpr const char *kPlace = "calibration";
constexpr std::array<const char *, 3> kPartNames { "computing", "communication", "the host" };

std::size_t partOf(CalibratedPart what)
{
    using enum CalibratedPart;
    if (what == Products || what == Attention || what == Memory)
        return 0;
    return what == Host ? 2 : 1;
}

std::string factorName(const CalibrationFactor &factor)
{
    std::string name = toString(factor.what);
    if (!factor.gpu.empty())
        name += " of " + factor.gpu;
    if (!factor.datacenter.empty())
        name += " in " + factor.datacenter;
    if (factor.between.size() == 2)
        name += " between " + factor.between[0] + " and " + factor.between[1];
    return name;
}

} // namespace

DriftWatch::Taught DriftWatch::taughtBy(const Plan &plan, double leastError)
{
    Taught taught;
    const auto factors = calibrationOf(plan);
    if (!factors)
        return taught;
    taught.error = leastError;
    for (const auto &[id, factor] : *factors) {
        taught.isAny = true;
        taught.error = std::max(taught.error, factor.errorAfter.value_or(0));
        taught.parts[partOf(factor.what)].push_back(factorName(factor));
    }
    return taught;
}

void DriftWatch::forgetPlan()
{
    m_plan.reset();
    m_steps = LevelWatch();
    m_parts.fill(LevelWatch());
    m_isTold = false;
}

void DriftWatch::add(const StepFacts &facts, const WatchedPlan &watched, const Sentences &say, AlarmList &book)
{
    if (!watched.plan() || facts.isWarmUp || !(facts.figures.seconds > 0))
        return;
    if (m_plan != watched.plan()->plan) {
        forgetPlan();
        m_plan = watched.plan()->plan;
        m_taught = taughtBy(*m_plan, m_options.rules.threshold(RuleId::Drift));
    }
    const Watchman::StepFigures planned = figuresOf(*watched.plan());
    if (!m_taught.isAny || !(planned.seconds > 0))
        return;
    // A change of level within counts as well: where the steps are matters, not how they came there.
    constexpr double kNever = 1e300;
    m_steps.add({ facts.number, facts.at, facts.figures.seconds / planned.seconds }, kNever);
    const double wait = facts.figures.communication + facts.figures.waiting + facts.figures.bubble;
    const std::array<double, 3> beyond { facts.figures.compute - planned.compute,
        wait - planned.communication - planned.waiting - planned.bubble, facts.figures.host - planned.host };
    for (std::size_t i = 0; i < beyond.size(); ++i)
        m_parts[i].add({ facts.number, facts.at, beyond[i] }, kNever);
    const bool isSlow = m_steps.isAbove(1 + m_taught.error, kForLong),
               isFast = m_steps.isBelow(1 - m_taught.error, kForLong);
    const bool isCaused = std::ranges::any_of(book.alarms(), [](const Alarm &alarm) {
        return !alarm.isOver() && (alarm.kind == AlarmKind::SlowLink || alarm.kind == AlarmKind::Straggler);
    });
    if (m_isTold && !isSlow && !isFast) {
        book.end(AlarmKind::Drift, kPlace, facts.at, facts.number - 1);
        m_isTold = false;
    }
    if (m_isTold || isCaused || (!isSlow && !isFast))
        return;
    const double ratio = m_steps.level();
    Alarm alarm { .kind = AlarmKind::Drift, .place = kPlace, .share = ratio };
    const LevelPoint &first = isSlow ? m_steps.firstAbove(1 + m_taught.error) : m_steps.firstBelow(1 - m_taught.error);
    alarm.firstStep = first.step;
    alarm.since = first.at;
    alarm.secondsPerStep = std::max(0.0, (ratio - 1) * planned.seconds);
    alarm.sentence = say.atStep(alarm.firstStep) + "steps take " + wholePercent(ratio)
        + " of what the calibrated plan says" + say.since(alarm.since) + ", where its own error is "
        + percentText(m_taught.error);
    std::optional<std::size_t> part; // the one that is furthest off in the same direction
    for (std::size_t i = 0; i < m_parts.size(); ++i)
        if (const double off = m_parts[i].level() * (isSlow ? 1 : -1); off > 0 && std::isfinite(beyond[i]))
            if (!part || off > m_parts[*part].level() * (isSlow ? 1 : -1))
                part = i;
    if (part) {
        alarm.sentence += std::string("; most of it is ") + kPartNames[*part] + ", "
            + secondsText(std::abs(m_parts[*part].level())) + (isSlow ? " more" : " less") + " per step";
        if (!m_taught.parts[*part].empty())
            alarm.sentence += ": calibrated were " + joined(m_taught.parts[*part], ", ", " and ");
    }
    book.tell(std::move(alarm));
    m_isTold = true;
}

} // namespace trainyard::watch
