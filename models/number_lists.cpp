// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/number_lists.h"

#include <QLocale>
#include <QObject>
#include <QRegularExpression>
#include <QStringList>

#include <algorithm>
#include <cmath>

namespace trainyard {

std::expected<std::vector<double>, QString> numbersIn(const QString &text, double low, double high, bool isWhole)
{
    static const QRegularExpression kBetween(QStringLiteral("[\\s,;]+"));
    const QLocale english(QLocale::English);
    std::vector<double> numbers;
    for (const QString &part : text.split(kBetween, Qt::SkipEmptyParts)) {
        bool isNumber = false;
        const double number = part.toDouble(&isNumber);
        const bool isAbove = isWhole || low > 0 ? number >= low : number > low;
        if (!isNumber || !std::isfinite(number) || !isAbove || number > high
            || (isWhole && number != std::round(number)))
            return std::unexpected(isWhole
                    ? QObject::tr("a whole number from %1 to %2 is wanted, not “%3”")
                          .arg(english.toString(low, 'f', 0), english.toString(high, 'f', 0), part)
                    : low > 0 ? QObject::tr("a number from %1 to %2 is wanted, not “%3”").arg(low).arg(high).arg(part)
                              : QObject::tr("a number above 0 is wanted, not “%1”").arg(part));
        if (std::ranges::find(numbers, number) == numbers.end())
            numbers.push_back(number);
    }
    return numbers;
}

QString numbersText(const std::vector<double> &numbers)
{
    QStringList parts;
    for (const double number : numbers)
        parts << QString::number(number, 'g', 10);
    return parts.join(QStringLiteral(", "));
}

} // namespace trainyard
