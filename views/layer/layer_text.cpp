// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/layer/layer_text.h"

#include "core/plan/enum_names.h"
#include "models/text/format.h"

#include <QCoreApplication>
#include <QLocale>

#include <algorithm>

namespace trainyard {

namespace {

constexpr double kSlowed = 1.005; // below it a rounding

QString tr(const char *text)
{
    return QCoreApplication::translate("LayerText", text);
}

double secondsOf(Nanoseconds time)
{
    return toSeconds(time).value;
}

QString rate(double bytes, double seconds)
{
    return seconds > 0 ? tr("%1/s").arg(formatBytes(bytes / seconds)) : QString();
}

QString stepName(const LayerSpan &span)
{
    switch (span.step) {
    case LayerStep::Before:
        return tr("Attention");
    case LayerStep::Router:
        return tr("Router");
    case LayerStep::HostWait:
        return tr("Waiting for the host");
    case LayerStep::Permute:
        return tr("Permute");
    case LayerStep::Dispatch:
        return tr("Dispatch");
    case LayerStep::Products:
        return tr("Experts");
    case LayerStep::Combine:
        return tr("Combine");
    case LayerStep::Unpermute:
        return tr("Unpermute");
    case LayerStep::Shared:
        return tr("Shared experts");
    case LayerStep::Beside:
        return tr("Other traffic");
    }
    return {};
}

QString wayName(Way way)
{
    switch (way) {
    case Way::Nvlink:
        return tr("NVLink");
    case Way::Nic:
        return tr("NIC");
    case Way::Wan:
        return tr("WAN");
    case Way::Memory:
        return tr("memory");
    }
    return {};
}

QString overStream(LayerStream stream)
{
    switch (stream) {
    case LayerStream::Compute:
        return {};
    case LayerStream::Nic:
        return tr(" over the NIC");
    case LayerStream::Nvlink:
        return tr(" over NVLink");
    case LayerStream::Wan:
        return tr(" over the WAN");
    case LayerStream::Copy:
        return tr(" in memory");
    }
    return {};
}

int piecesOf(const LayerChart &chart, const LayerSpan &span)
{
    int most = 0;
    for (const LayerSpan &other : chart.spans)
        if (other.step == span.step && other.isBackward == span.isBackward)
            most = std::max(most, other.piece);
    return most + 1;
}

bool hasBothPasses(const LayerChart &chart)
{
    return std::ranges::any_of(chart.spans, &LayerSpan::isBackward)
        && !std::ranges::all_of(chart.spans, &LayerSpan::isBackward);
}

/// Bytes between GPUs.
double wireBytes(const LayerExchange &exchange)
{
    return exchange.bytes[std::size_t(Way::Nvlink)] + exchange.bytes[std::size_t(Way::Nic)]
        + exchange.bytes[std::size_t(Way::Wan)];
}

QString bytesAndRate(double bytes, double seconds)
{
    return bytes > 0 ? tr("%1 · %2").arg(formatBytes(bytes), rate(bytes, seconds)) : QStringLiteral("–");
}

void addWhole(QStringList &facts, const LayerChart &chart, const LayerSpan &span)
{
    for (const LayerExchange &exchange : chart.exchanges) {
        if (exchange.step != span.step || exchange.isBackward != span.isBackward)
            continue;
        const double time = secondsOf(exchange.end - exchange.start);
        facts << tr("the whole %1: %2 in %3")
                     .arg(stepName(span).toLower(), formatBytes(wireBytes(exchange)), formatSeconds(time))
              << tr("on all wires %1; logical %2, as its makers count")
                     .arg(rate(wireBytes(exchange), time), rate(exchange.logicalBytes, time));
    }
}

} // namespace

QString layerSpanTitle(const LayerChart &chart, std::size_t index)
{
    const LayerSpan &span = chart.spans[index];
    QString title = stepName(span) + overStream(span.track.stream);
    if (const int pieces = piecesOf(chart, span); pieces > 1)
        title += tr(", piece %1 of %2").arg(span.piece + 1).arg(pieces);
    if (hasBothPasses(chart))
        title += span.isBackward ? tr(" of the backward") : tr(" of the forward");
    return title;
}

QStringList layerSpanFacts(const LayerChart &chart, std::size_t index)
{
    const LayerSpan &span = chart.spans[index];
    const double time = secondsOf(span.end - span.start);
    QStringList facts { tr("%1 from %2 on").arg(formatSeconds(time), formatSeconds(secondsOf(span.start))) };
    if (span.alone > 0 && time > kSlowed * span.alone)
        facts << tr("alone %1: %2 times as long beside what shares its way")
                     .arg(formatSeconds(span.alone), QString::number(time / span.alone, 'f', 2));
    else if (span.alone > 0)
        facts << tr("as long as alone");
    if (span.bytes > 0 && span.track.stream == LayerStream::Copy)
        facts << tr("%1 read and written, %2").arg(formatBytes(span.bytes), rate(span.bytes, time));
    else if (span.bytes > 0)
        facts << tr("%1 on this wire, %2").arg(formatBytes(span.bytes), rate(span.bytes, time));
    if (span.nvlinkToo > 0)
        facts << tr("%1 cross NVLink on the way").arg(formatBytes(span.nvlinkToo));
    addWhole(facts, chart, span);
    return facts;
}

QStringList layerSpanLabels(const LayerChart &chart, std::size_t index)
{
    const LayerSpan &span = chart.spans[index];
    const QString name = stepName(span);
    if (piecesOf(chart, span) == 1)
        return { name };
    const QString piece = QString::number(span.piece + 1);
    return { tr("%1 %2").arg(name, piece), piece };
}

QString exchangeName(const LayerExchange &exchange, bool showsPass)
{
    const QString name = exchange.step == LayerStep::Dispatch ? tr("Dispatch") : tr("Combine");
    if (!showsPass)
        return name;
    return exchange.isBackward ? tr("%1, backward").arg(name) : tr("%1, forward").arg(name);
}

QString layerWhere(const ExpertLayer &layer)
{
    const ExpertGroup &group = layer.request.group;
    const ExpertTokens &tokens = layer.request.tokens;
    QString where =
        tr("Stage %1: experts over %2").arg(layer.stage + 1).arg(countOf(group.ranks, tr("rank"), tr("ranks")));
    if (group.nodes() > 1)
        where += tr(" on %1").arg(countOf(group.nodes(), tr("node"), tr("nodes")));
    if (group.sites() > 1)
        where += tr(" in %1").arg(countOf(group.sites(), tr("datacenter"), tr("datacenters")));
    return where
        + tr(" · %L1 tokens a GPU, each to %2 of %3 experts")
              .arg(qint64(tokens.tokens + 0.5))
              .arg(tokens.choices)
              .arg(tokens.experts);
}

QString layerChoice(const ExpertLayer &layer)
{
    const ExchangeChoice &choice = layer.choice;
    const QString name = QString::fromUtf8(kNamesOf<MoeDispatch>[std::size_t(choice.dispatch)].label);
    const QString pieces = choice.forwardPieces == choice.backwardPieces
        ? countOf(choice.forwardPieces, tr("piece"), tr("pieces"))
        : tr("%1 forward, %2 backward")
              .arg(countOf(choice.forwardPieces, tr("piece"), tr("pieces")))
              .arg(choice.backwardPieces);
    const QString text = tr("Dispatch %1, %2").arg(name, pieces);
    return tr("%1. %2").arg(text, QString::fromStdString(whyOf(layer.request, choice)));
}

std::vector<LayerFigure> layerFigures(const LayerTimes &times)
{
    const auto share = [&](Seconds part) {
        return times.total.value > 0 ? formatPercent(part.value / times.total.value) : QString();
    };
    return {
        { tr("Layer"), formatSeconds(times.total.value), tr("from its first kernel to its last") },
        { tr("Exposed"), formatSeconds(times.exposed.value), tr("%1 · nothing computes").arg(share(times.exposed)) },
        { tr("Computing"), formatSeconds(times.computing.value), share(times.computing) },
        { tr("Dispatch"), formatSeconds(times.dispatch.value), tr("from begin to end") },
        { tr("Combine"), formatSeconds(times.combine.value), tr("from begin to end") },
    };
}

ExchangeTable exchangeTable(const LayerChart &chart)
{
    ExchangeTable table;
    table.heads << tr("Exchange") << tr("Time");
    constexpr Way kWays[] = { Way::Nic, Way::Nvlink, Way::Wan, Way::Memory };
    std::vector<Way> used;
    for (const Way way : kWays)
        if (std::ranges::any_of(
                chart.exchanges, [&](const LayerExchange &e) { return e.bytes[std::size_t(way)] > 0; })) {
            used.push_back(way);
            table.heads << (way == Way::Memory ? tr("Copied in memory") : tr("%1, wire").arg(wayName(way)));
        }
    table.heads << tr("Logical");
    for (const LayerExchange &exchange : chart.exchanges) {
        const double time = secondsOf(exchange.end - exchange.start);
        QStringList line { exchangeName(exchange, hasBothPasses(chart)), formatSeconds(time) };
        for (const Way way : used)
            line << bytesAndRate(exchange.bytes[std::size_t(way)], time);
        line << bytesAndRate(exchange.logicalBytes, time);
        table.lines.push_back(line);
    }
    return table;
}

} // namespace trainyard
