// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/text/format.h"

#include <QCoreApplication>
#include <QLocale>

#include <array>
#include <cmath>

namespace trainyard {

namespace {

QString tr(const char *text)
{
    return QCoreApplication::translate("Format", text);
}

QString digits(double value)
{
    if (value == 0)
        return QStringLiteral("0");
    const double magnitude = std::abs(value);
    const int decimals = magnitude >= 99.95 ? 0 : magnitude >= 9.995 ? 1 : 2;
    QString text = QString::number(value, 'f', decimals);
    text.replace(u'-', QChar(0x2212));
    return text;
}

struct Unit {
    double factor;
    const char *name;
};

template <std::size_t N> QString scaled(double value, const std::array<Unit, N> &units)
{
    for (const Unit &unit : units) {
        if (std::abs(value) >= unit.factor * 0.9995)
            return digits(value / unit.factor) + QString::fromUtf8(unit.name);
    }
    return digits(value / units.back().factor) + QString::fromUtf8(units.back().name);
}

} // namespace

QString formatSeconds(double seconds)
{
    static constexpr std::array<Unit, 4> units { { { 1, " s" }, { 1e-3, " ms" }, { 1e-6, " µs" }, { 1e-9, " ns" } } };
    return scaled(seconds, units);
}

QString formatBytes(double bytes)
{
    static constexpr std::array<Unit, 5> units { { { 1e12, " TB" }, { 1e9, " GB" }, { 1e6, " MB" }, { 1e3, " kB" },
        { 1, " B" } } };
    return scaled(bytes, units);
}

QString explainBytes(double bytes)
{
    return tr("%1 is %2 GiB: 1 GB is 10⁹ bytes; 1 GiB, by which GPUs are named, is 2³⁰.")
        .arg(formatBytes(bytes), digits(bytes / (1LL << 30)));
}

QString formatCount(double count)
{
    static constexpr std::array<Unit, 5> units { { { 1e12, "T" }, { 1e9, "B" }, { 1e6, "M" }, { 1e3, "k" },
        { 1, "" } } };
    return scaled(count, units);
}

QString countOf(qint64 count, const QString &one, const QString &many)
{
    return QLocale(QLocale::English).toString(count) + u' ' + (count == 1 ? one : many);
}

QString gpusText(qint64 gpus)
{
    return countOf(gpus, tr("GPU"), tr("GPUs"));
}

QString formatPercent(double share)
{
    return digits(share * 100) + QStringLiteral(" %");
}

QString formatUsd(double usd)
{
    static constexpr std::array<Unit, 4> units { { { 1e9, "B" }, { 1e6, "M" }, { 1e4, "k" }, { 1, "" } } };
    if (std::abs(usd) < 1e4)
        return QStringLiteral("$") + (std::abs(usd) < 0.1 ? QString::number(usd, 'g', 2) : digits(usd));
    return QStringLiteral("$") + (std::abs(usd) < 1e6 ? digits(usd / 1e3) + u'k' : scaled(usd, units));
}

QString formatGbps(double gbps)
{
    return (gbps == std::round(gbps) ? QString::number(gbps, 'f', 0) : digits(gbps)) + QStringLiteral(" Gbps");
}

QString formatChange(double before, double after)
{
    if (before == 0)
        return {};
    const double change = (after - before) / std::abs(before) * 100;
    if (std::abs(change) < 0.05)
        return QStringLiteral("0 %"); // neither sign is true of it
    QString text = QString::number(std::abs(change), 'f', std::abs(change) < 99.95 ? 1 : 0) + QStringLiteral(" %");
    return (change < 0 ? QString(QChar(0x2212)) : QStringLiteral("+")) + text;
}

} // namespace trainyard
