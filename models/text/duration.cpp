// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/text/duration.h"

#include "core/base/number_text.h"

#include <QRegularExpression>

#include <cmath>

namespace trainyard {

namespace {

constexpr double kMinute = 60, kHour = 3600, kDay = 86400;

} // namespace

QString formatDuration(double seconds)
{
    return QString::fromStdString(durationText(seconds));
}

std::optional<double> durationOf(const QString &text)
{
    static const QRegularExpression kDuration(
        QStringLiteral("^(\\d+(?:\\.\\d*)?(?:e[+-]?\\d+)?)\\s*(ms|s|sec|seconds?|min|minutes?|h|hours?|d|days?)?$"),
        QRegularExpression::CaseInsensitiveOption);
    const QRegularExpressionMatch match = kDuration.match(text.simplified().remove(u','));
    if (!match.hasMatch())
        return std::nullopt;
    const QString unit = match.captured(2).toLower();
    const double factor = unit == QLatin1String("ms") ? 1e-3
        : unit.startsWith(u'm')                       ? kMinute
        : unit.startsWith(u'h')                       ? kHour
        : unit.startsWith(u'd')                       ? kDay
                                                      : 1;
    const double seconds = match.captured(1).toDouble() * factor;
    return seconds > 0 && std::isfinite(seconds) ? std::optional(seconds) : std::nullopt;
}

} // namespace trainyard
