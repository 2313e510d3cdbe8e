// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/text/format.h"

#include "core/base/number_text.h"

#include <QCoreApplication>

namespace trainyard {

namespace {

QString tr(const char *text)
{
    return QCoreApplication::translate("Format", text);
}

QString shown(const std::string &text)
{
    return QString::fromStdString(text);
}

} // namespace

QString formatSeconds(double seconds)
{
    return shown(secondsText(seconds));
}

QString formatBytes(double bytes)
{
    return shown(bytesText(bytes));
}

QString explainBytes(double bytes)
{
    return tr("%1 is %2 GiB: 1 GB is 10⁹ bytes; 1 GiB, by which GPUs are named, is 2³⁰.")
        .arg(formatBytes(bytes), shown(plainText(bytes / (1LL << 30))));
}

QString formatCount(double count)
{
    return shown(countText(count));
}

QString countOf(qint64 count, const QString &one, const QString &many)
{
    return shown(wholeText(double(count))) + u' ' + (count == 1 ? one : many);
}

QString gpusText(qint64 gpus)
{
    return countOf(gpus, tr("GPU"), tr("GPUs"));
}

QString formatPercent(double share)
{
    return shown(percentText(share));
}

QString formatUsd(double usd)
{
    return shown(usdText(usd));
}

QString formatGbps(double gbps)
{
    return shown(gbpsText(gbps));
}

QString formatChange(double before, double after)
{
    return shown(changeText(before, after));
}

} // namespace trainyard
