// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/effect_text.h"

#include "models/text/format.h"

#include <QObject>

#include <cmath>

namespace trainyard {

EffectText effectText(const Effect &effect)
{
    if (!effect.iterationTime)
        return {QObject::tr("not possible"), Ink::Faint};
    if (!effect.fits)
        return {effect.memoryBytes > 0 ? QObject::tr("%1, does not fit").arg(formatBytes(effect.memoryBytes)) : QObject::tr("does not fit"), Ink::Bad};
    if (!effect.feasible)
        return {QObject::tr("not feasible"), Ink::Bad};
    if (!effect.change)
        return {formatSeconds(*effect.iterationTime), Ink::Muted};
    if (std::abs(*effect.change) < kNoChange)
        return {QObject::tr("±0"), Ink::Faint};
    return {formatChange(1, 1 + *effect.change), *effect.change < 0 ? Ink::Good : Ink::Bad};
}

EffectText effectText(const Effect &effect, const QString &value)
{
    EffectText text = effectText(effect);
    if (effect.iterationTime && !effect.fits)
        text.text = QObject::tr("%1: does not fit").arg(value);
    else if (!effect.iterationTime || !effect.feasible)
        text.text = QObject::tr("%1: %2").arg(value, text.text);
    else
        text.text = QStringLiteral("%1 %2").arg(value, text.text);
    return text;
}

EffectText utilizationText(const Effect &effect, std::optional<double> utilizationNow)
{
    if (!effect.iterationTime || !effect.feasible || !effect.utilization || !utilizationNow)
        return effectText(effect);
    const double points = (*effect.utilization - *utilizationNow) * 100;
    if (std::abs(points) < kNoChange * 100)
        return {QObject::tr("±0"), Ink::Faint};
    const QString size = QString::number(std::abs(points), 'f', std::abs(points) < 9.95 ? 1 : 0);
    return {QObject::tr("%1%2 pt use").arg(points < 0 ? QStringLiteral("−") : QStringLiteral("+"), size), points > 0 ? Ink::Good : Ink::Bad};
}

EffectText memoryText(const Effect &effect, double bytesNow)
{
    const EffectText time = effectText(effect);
    if (!effect.iterationTime || effect.memoryBytes <= 0 || bytesNow <= 0 || !effect.fits || !effect.feasible)
        return time;
    const double more = effect.memoryBytes - bytesNow;
    const bool isSame = std::abs(more) < 0.0005 * bytesNow;
    if (isSame)
        return time;
    const QString bytes = (more < 0 ? QStringLiteral("−") : QStringLiteral("+")) + formatBytes(std::abs(more));
    const bool isFree = !effect.change || std::abs(*effect.change) < kNoChange;
    return {isFree ? bytes : QStringLiteral("%1 %2").arg(bytes, time.text), isFree ? (more < 0 ? Ink::Good : Ink::Bad) : Ink::Muted};
}

QString utilizationSentence(const Effect &effect, std::optional<double> utilizationNow)
{
    if (!effect.utilization || !utilizationNow)
        return {};
    return QObject::tr("GPUs at work %1 → %2.").arg(formatPercent(*utilizationNow), formatPercent(*effect.utilization));
}

QString effectSentence(const Effect &effect, std::optional<double> iterationNow)
{
    QStringList sentences;
    if (effect.iterationTime && iterationNow)
        sentences << QObject::tr("Iteration %1 → %2.").arg(formatSeconds(*iterationNow), formatSeconds(*effect.iterationTime));
    else if (effect.iterationTime)
        sentences << QObject::tr("Iteration %1.").arg(formatSeconds(*effect.iterationTime));
    if (effect.capacityBytes > 0)
        sentences << QObject::tr("Fullest GPU %1 of %2.").arg(formatBytes(effect.memoryBytes), formatBytes(effect.capacityBytes));
    if (!effect.reason.empty()) {
        QString reason = QString::fromStdString(effect.reason);
        reason[0] = reason[0].toUpper();
        sentences << (reason.endsWith(u'.') ? reason : reason + u'.');
    }
    return sentences.join(u' ');
}

} // namespace trainyard
