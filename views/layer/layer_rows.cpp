// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/layer/layer_rows.h"

#include <QCoreApplication>

#include <algorithm>

namespace trainyard {

namespace {

QString layerRowText(const char *text)
{
    return QCoreApplication::translate("LayerRows", text);
}

QString streamName(LayerStream stream)
{
    switch (stream) {
    case LayerStream::Compute:
        return layerRowText("Compute");
    case LayerStream::Nic:
        return layerRowText("NIC");
    case LayerStream::Nvlink:
        return layerRowText("NVLink");
    case LayerStream::Wan:
        return layerRowText("WAN");
    case LayerStream::Copy:
        return layerRowText("Copies");
    }
    return {};
}

QString labelOf(const LayerChart &chart, const LayerRow &row)
{
    const bool isBeside = chart.spans[row.first].step == LayerStep::Beside;
    if (row.track.stream == LayerStream::Compute && row.track.lane > 0)
        return layerRowText("Shared experts");
    if (isBeside)
        return layerRowText("%1, other traffic").arg(streamName(row.track.stream));
    return row.track.lane == 0 ? streamName(row.track.stream)
                               : layerRowText("%1, leg %2").arg(streamName(row.track.stream)).arg(row.track.lane + 1);
}

} // namespace

LayerRows layerRows(const LayerChart &chart, int room)
{
    LayerRows made;
    for (std::size_t i = 0; i < chart.spans.size(); ++i) {
        if (made.rows.empty() || made.rows.back().track != chart.spans[i].track)
            made.rows.push_back({ .track = chart.spans[i].track, .label = {}, .first = i });
        made.rows.back().last = i + 1;
    }
    const int groups = chart.ranks > 1 ? chart.ranks : 0;
    const int count = std::max(1, int(made.rows.size()));
    made.rowHeight = std::clamp((room - groups * kLayerGroup) / count, kLeastLayerRow, kMostLayerRow);
    int rank = -1;
    for (LayerRow &row : made.rows) {
        if (groups > 0 && row.track.rank != rank) {
            rank = row.track.rank;
            made.groups.push_back(
                { rank == 0 ? layerRowText("Fullest GPU") : layerRowText("A mean GPU"), made.height });
            made.height += kLayerGroup;
        }
        row.label = labelOf(chart, row);
        row.y = made.height;
        made.height += made.rowHeight;
    }
    return made;
}

std::vector<BareTime> bareTimes(const LayerChart &chart)
{
    std::vector<BareTime> kernels, bare;
    for (const LayerSpan &span : chart.spans)
        if (span.track.rank == 0 && span.track.stream == LayerStream::Compute && span.step != LayerStep::HostWait)
            kernels.push_back({ span.start, span.end });
    kernels.push_back({ chart.duration, chart.duration });
    std::ranges::sort(kernels, {}, &BareTime::start);
    Nanoseconds until = 0;
    for (const BareTime &kernel : kernels) {
        if (kernel.start > until)
            bare.push_back({ until, kernel.start });
        until = std::max(until, kernel.end);
    }
    return bare;
}

} // namespace trainyard
