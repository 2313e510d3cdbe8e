// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/effect_text.h"

#include "core/base/words.h"
#include "models/text/duration.h"
#include "models/text/format.h"

#include <QObject>

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

int direction(double change)
{
    return std::abs(change) < kNoChange ? 0 : change < 0 ? -1 : 1;
}

/// A figure with fewer digits: whole from `whole` on, else with one decimal.
QString rounded(const QString &figure, double whole)
{
    const double number = figure.section(u' ', 0, 0).toDouble();
    return QString::number(number, 'f', number < whole ? 1 : 0) + u' ' + figure.section(u' ', 1);
}

QString signedBytes(double more, bool isBrief)
{
    const QString size = formatBytes(std::abs(more));
    return (more < 0 ? QStringLiteral("−") : QStringLiteral("+")) + (isBrief ? rounded(size, 9.95) : size);
}

QString signedShare(double change, bool isBrief)
{
    const QString text = formatChange(1, 1 + change);
    return isBrief ? text.first(1) + rounded(text.sliced(1), 0.95) : text;
}

Ink inkOfDirections(int best, int worst)
{
    if (best < 0)
        return worst > 0 ? Ink::Muted : Ink::Good;
    return worst > 0 ? Ink::Bad : Ink::Faint;
}

/// What cannot be had at all, or is set against nothing; empty text where it can.
EffectText obstacle(const Effect &effect, bool fitsNow)
{
    if (!effect.iterationTime)
        return { QObject::tr("not possible"), Ink::Faint, {}, true };
    if (!effect.notCompared.empty())
        return { QObject::tr("not compared"), Ink::Faint, {}, true };
    if (!effect.fits && fitsNow)
        return { effect.memoryBytes > 0 ? QObject::tr("%1, does not fit").arg(formatBytes(effect.memoryBytes))
                                        : QObject::tr("does not fit"),
            Ink::Bad, QObject::tr("does not fit"), true };
    if (effect.fits && !effect.feasible && effect.isOfJobs)
        return { QObject::tr("leaves jobs out"), Ink::Bad, {}, true };
    if (effect.fits && !effect.feasible)
        return { QObject::tr("not feasible"), Ink::Bad, {}, true };
    return {};
}

/// The iteration alone.
EffectText timeText(const Effect &effect)
{
    const int time = directionOfTime(effect);
    EffectText text { {}, inkOfDirections(time, time), {} };
    text.text = time != 0 ? signedShare(*effect.change, false) : QObject::tr("±0");
    text.brief = time != 0 ? signedShare(*effect.change, true) : text.text;
    return text;
}

/// Time and memory, each in its column. `judgesBytes`: memory is what it is for, or what the plan has too little of.
EffectText amounts(const Effect &effect, const EffectTable &now, bool judgesBytes)
{
    const int time = directionOfTime(effect), bytes = directionOfMemory(effect, now);
    EffectText text = timeText(effect);
    text.columns.time = text.text;
    text.columns.briefTime = text.brief;
    if (bytes != 0) {
        text.columns.memory = signedBytes(effect.memoryBytes - now.memoryBytes, false);
        text.columns.briefMemory = signedBytes(effect.memoryBytes - now.memoryBytes, true);
        text.text += u' ' + text.columns.memory;
        text.brief += u' ' + text.columns.briefMemory;
    }
    if (judgesBytes)
        text.ink = inkOfDirections(std::min(time, bytes), std::max(time, bytes));
    text.columns.timeInk = time != 0 ? text.ink : Ink::Faint;
    text.columns.memoryInk = judgesBytes ? text.ink : Ink::Faint;
    return text;
}

} // namespace

void EffectText::addMark(const QString &mark)
{
    for (QString *words : { &text, &brief })
        if (!words->isEmpty())
            *words += u' ' + mark;
    columns.mark += mark;
}

int directionOfTime(const Effect &effect)
{
    return direction(effect.change.value_or(0));
}

int directionOfMemory(const Effect &effect, const EffectTable &now)
{
    return effect.memoryBytes > 0 && now.memoryBytes > 0 ? direction(effect.memoryBytes / now.memoryBytes - 1) : 0;
}

EffectText effectText(const Effect &effect)
{
    if (EffectText why = obstacle(effect, true); !why.text.isEmpty())
        return why;
    if (!effect.change)
        return { formatSeconds(*effect.iterationTime), Ink::Muted };
    return timeText(effect);
}

EffectText effectText(const Effect &effect, const EffectTable &now, EffectFocus focus)
{
    if (EffectText why = obstacle(effect, now.fits); !why.text.isEmpty())
        return why;
    if (effect.isIdle)
        return { QObject::tr("no effect"), Ink::Faint, QObject::tr("±0") };
    if (!effect.change && directionOfMemory(effect, now) == 0)
        return { formatSeconds(*effect.iterationTime), Ink::Muted };
    if (now.fits)
        return focus == EffectFocus::Utilization ? utilizationText(effect, now.utilization)
                                                 : amounts(effect, now, focus == EffectFocus::Memory);
    EffectText text = amounts(effect, now, true);
    text.addMark(effect.fits ? QStringLiteral("✓") : QStringLiteral("✕"));
    text.ink = text.columns.timeInk = text.columns.memoryInk = effect.fits ? Ink::Good : Ink::Muted;
    return text;
}

EffectText blockedText(const std::vector<Alternative> &alternatives)
{
    const bool canChange =
        std::ranges::any_of(alternatives, [](const Alternative &a) { return !a.isCurrent && a.plan; });
    const bool isMeasured =
        std::ranges::any_of(alternatives, [](const Alternative &a) { return a.blockedBecause.starts_with(kMeasured); });
    return !canChange && isMeasured ? EffectText { QObject::tr("measured"), Ink::Faint } : EffectText {};
}

EffectText utilizationText(const Effect &effect, std::optional<double> utilizationNow)
{
    if (!effect.iterationTime || !effect.feasible || !effect.notCompared.empty() || !effect.utilization
        || !utilizationNow)
        return effectText(effect);
    const double points = (*effect.utilization - *utilizationNow) * 100;
    if (std::abs(points) < kNoChange * 100)
        return { QObject::tr("±0"), Ink::Faint };
    const QString size = QString::number(std::abs(points), 'f', std::abs(points) < 9.95 ? 1 : 0);
    return { QObject::tr("%1%2 pt use").arg(points < 0 ? QStringLiteral("−") : QStringLiteral("+"), size),
        points > 0 ? Ink::Good : Ink::Bad };
}

QString utilizationSentence(const Effect &effect, std::optional<double> utilizationNow)
{
    if (!effect.utilization || !utilizationNow || !effect.notCompared.empty())
        return {};
    return QObject::tr("GPUs at work %1 → %2.").arg(formatPercent(*utilizationNow), formatPercent(*effect.utilization));
}

QString becauseText(const Effect &effect)
{
    return QString::fromStdString(effect.notCompared.empty() ? effect.because : effect.notCompared);
}

QString effectSentence(const Effect &effect, std::optional<double> iterationNow)
{
    QStringList sentences;
    const QString what = effect.isOfJobs ? QObject::tr("All jobs") : QObject::tr("Iteration");
    const auto time = [&](double seconds) {
        return effect.isOfJobs ? formatDuration(seconds) : formatSeconds(seconds);
    };
    if (effect.iterationTime && iterationNow && effect.notCompared.empty())
        sentences << QObject::tr("%1 %2 → %3.").arg(what, time(*iterationNow), time(*effect.iterationTime));
    else if (effect.iterationTime)
        sentences << QObject::tr("%1 %2.").arg(what, time(*effect.iterationTime));
    if (effect.isIdle)
        sentences << (effect.idleBecause.empty()
                ? QObject::tr("No effect on this plan.")
                : QObject::tr("No effect: %1.").arg(QString::fromStdString(effect.idleBecause)));
    if (!effect.notCompared.empty())
        sentences << QString::fromStdString(asSentence(effect.notCompared));
    else if (const QString why = becauseText(effect); !why.isEmpty())
        sentences << QObject::tr("Because: %1.").arg(why);
    if (effect.capacityBytes > 0)
        sentences << QObject::tr("Fullest GPU %1 of %2.")
                         .arg(formatBytes(effect.memoryBytes), formatBytes(effect.capacityBytes));
    if (!effect.reason.empty()) {
        QString reason = QString::fromStdString(effect.reason);
        reason[0] = reason[0].toUpper();
        sentences << (reason.endsWith(u'.') ? reason : reason + u'.');
    }
    return sentences.join(u' ');
}

} // namespace trainyard
