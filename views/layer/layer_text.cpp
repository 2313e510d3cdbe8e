// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/layer/layer_text.h"

#include "core/facts/plan/enum_names.h"
#include "models/text/format.h"

#include <QCoreApplication>
#include <QLocale>

#include <algorithm>

namespace trainyard {

namespace {

constexpr double kSlowed = 1.005; // below it a rounding

QString layerText(const char *text)
{
    return QCoreApplication::translate("LayerText", text);
}

double secondsOf(Nanoseconds time)
{
    return toSeconds(time).value;
}

QString rate(double bytes, double seconds)
{
    return seconds > 0 ? layerText("%1/s").arg(formatBytes(bytes / seconds)) : QString();
}

QString stepName(const LayerSpan &span)
{
    switch (span.step) {
    case LayerStep::Before:
        return layerText("Attention");
    case LayerStep::Router:
        return layerText("Router");
    case LayerStep::HostWait:
        return layerText("Waiting for the host");
    case LayerStep::Permute:
        return layerText("Permute");
    case LayerStep::Dispatch:
        return layerText("Dispatch");
    case LayerStep::Products:
        return layerText("Experts");
    case LayerStep::Combine:
        return layerText("Combine");
    case LayerStep::Unpermute:
        return layerText("Unpermute");
    case LayerStep::Shared:
        return layerText("Shared experts");
    case LayerStep::Beside:
        return layerText("Other traffic");
    }
    return {};
}

QString wayName(Way way)
{
    switch (way) {
    case Way::Nvlink:
        return layerText("NVLink");
    case Way::Nic:
        return layerText("NIC");
    case Way::Wan:
        return layerText("WAN");
    case Way::Memory:
        return layerText("memory");
    }
    return {};
}

QString overStream(LayerStream stream)
{
    switch (stream) {
    case LayerStream::Compute:
        return {};
    case LayerStream::Nic:
        return layerText(" over the NIC");
    case LayerStream::Nvlink:
        return layerText(" over NVLink");
    case LayerStream::Wan:
        return layerText(" over the WAN");
    case LayerStream::Copy:
        return layerText(" in memory");
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

/// Bytes between GPUs.
double wireBytes(const LayerExchange &exchange)
{
    return exchange.bytes[std::size_t(Way::Nvlink)] + exchange.bytes[std::size_t(Way::Nic)]
        + exchange.bytes[std::size_t(Way::Wan)];
}

QString bytesAndRate(double bytes, double seconds)
{
    return bytes > 0 ? layerText("%1 · %2").arg(formatBytes(bytes), rate(bytes, seconds)) : QStringLiteral("–");
}

void addWhole(QStringList &facts, const LayerChart &chart, const LayerSpan &span)
{
    for (const LayerExchange &exchange : chart.exchanges) {
        if (exchange.step != span.step || exchange.isBackward != span.isBackward)
            continue;
        const double time = secondsOf(exchange.end - exchange.start);
        facts << layerText("the whole %1: %2 in %3")
                     .arg(stepName(span).toLower(), formatBytes(wireBytes(exchange)), formatSeconds(time))
              << layerText("on all wires %1; logical %2, as its makers count")
                     .arg(rate(wireBytes(exchange), time), rate(exchange.logicalBytes, time));
    }
}

} // namespace

bool hasBothPasses(const LayerChart &chart)
{
    return std::ranges::any_of(chart.spans, &LayerSpan::isBackward)
        && !std::ranges::all_of(chart.spans, &LayerSpan::isBackward);
}

QString layerSpanTitle(const LayerChart &chart, std::size_t index)
{
    const LayerSpan &span = chart.spans[index];
    QString title = stepName(span) + overStream(span.track.stream);
    if (const int pieces = piecesOf(chart, span); pieces > 1)
        title += layerText(", piece %1 of %2").arg(span.piece + 1).arg(pieces);
    if (hasBothPasses(chart))
        title += span.isBackward ? layerText(" of the backward") : layerText(" of the forward");
    return title;
}

QStringList layerSpanFacts(const LayerChart &chart, std::size_t index)
{
    const LayerSpan &span = chart.spans[index];
    const double time = secondsOf(span.end - span.start);
    QStringList facts { layerText("%1 from %2 on").arg(formatSeconds(time), formatSeconds(secondsOf(span.start))) };
    if (span.alone > 0 && time > kSlowed * span.alone)
        facts << layerText("alone %1: %2 times as long beside what shares its way")
                     .arg(formatSeconds(span.alone), QString::number(time / span.alone, 'f', 2));
    else if (span.alone > 0)
        facts << layerText("as long as alone");
    if (span.bytes > 0 && span.track.stream == LayerStream::Copy)
        facts << layerText("%1 read and written, %2").arg(formatBytes(span.bytes), rate(span.bytes, time));
    else if (span.bytes > 0)
        facts << layerText("%1 on this wire, %2").arg(formatBytes(span.bytes), rate(span.bytes, time));
    if (span.nvlinkToo > 0)
        facts << layerText("%1 cross NVLink on the way").arg(formatBytes(span.nvlinkToo));
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
    return { layerText("%1 %2").arg(name, piece), piece };
}

QString exchangeName(const LayerExchange &exchange, bool showsPass)
{
    const QString name = exchange.step == LayerStep::Dispatch ? layerText("Dispatch") : layerText("Combine");
    if (!showsPass)
        return name;
    return exchange.isBackward ? layerText("%1, backward").arg(name) : layerText("%1, forward").arg(name);
}

QString layerWhere(const ExpertLayer &layer)
{
    const ExpertGroup &group = layer.request.group;
    const ExpertTokens &tokens = layer.request.tokens;
    QString where = layerText("Stage %1: experts over %2")
                        .arg(layer.stage + 1)
                        .arg(countOf(group.ranks, layerText("rank"), layerText("ranks")));
    if (group.nodes() > 1)
        where += layerText(" on %1").arg(countOf(group.nodes(), layerText("node"), layerText("nodes")));
    if (group.sites() > 1)
        where += layerText(" in %1").arg(countOf(group.sites(), layerText("datacenter"), layerText("datacenters")));
    return where
        + layerText(" · %L1 tokens a GPU, each to %2 of %3 experts")
              .arg(qint64(tokens.tokens + 0.5))
              .arg(tokens.choices)
              .arg(tokens.experts);
}

QString layerChoice(const ExpertLayer &layer)
{
    const ExchangeChoice &choice = layer.choice;
    const QString name = QString::fromUtf8(kNamesOf<MoeDispatch>[std::size_t(choice.dispatch)].label);
    const QString pieces = choice.forwardPieces == choice.backwardPieces
        ? countOf(choice.forwardPieces, layerText("piece"), layerText("pieces"))
        : layerText("%1 forward, %2 backward")
              .arg(countOf(choice.forwardPieces, layerText("piece"), layerText("pieces")))
              .arg(choice.backwardPieces);
    const QString text = layerText("Dispatch %1, %2").arg(name, pieces);
    return layerText("%1. %2").arg(text, QString::fromStdString(whyOf(layer.request, choice)));
}

std::vector<LayerFigure> layerFigures(const LayerTimes &times)
{
    const auto share = [&](Seconds part) {
        return times.total.value > 0 ? formatPercent(part.value / times.total.value) : QString();
    };
    return {
        { layerText("Layer"), formatSeconds(times.total.value), layerText("from its first kernel to its last") },
        { layerText("Exposed"), formatSeconds(times.exposed.value),
            layerText("%1 · nothing computes").arg(share(times.exposed)), times.exposed.value > 0 },
        { layerText("Computing"), formatSeconds(times.computing.value), share(times.computing) },
        { layerText("Dispatch"), formatSeconds(times.dispatch.value), layerText("from begin to end") },
        { layerText("Combine"), formatSeconds(times.combine.value), layerText("from begin to end") },
    };
}

ExchangeTable exchangeTable(const LayerChart &chart)
{
    ExchangeTable table;
    table.heads << layerText("Exchange") << layerText("Time");
    constexpr Way kWays[] = { Way::Nic, Way::Nvlink, Way::Wan, Way::Memory };
    std::vector<Way> used;
    for (const Way way : kWays)
        if (std::ranges::any_of(
                chart.exchanges, [&](const LayerExchange &e) { return e.bytes[std::size_t(way)] > 0; })) {
            used.push_back(way);
            table.heads << (way == Way::Memory ? layerText("Copied in memory")
                                               : layerText("%1, wire").arg(wayName(way)));
        }
    table.heads << layerText("Logical");
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
