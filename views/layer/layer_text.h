#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What an opened layer says in words. A wire's bandwidth and the "logical" one, which counts as the makers of a
// dispatch do (Exchange::logicalBytes), never stand without their name. Pure functions.

#include "models/layer_opening.h"

#include <QString>
#include <QStringList>

#include <vector>

namespace trainyard {

/// Whether it has a forward and a backward, which words then tell apart.
[[nodiscard]] bool hasBothPasses(const LayerChart &chart);
/// "Dispatch over the NIC, piece 2 of 4".
[[nodiscard]] QString layerSpanTitle(const LayerChart &chart, std::size_t span);
[[nodiscard]] QStringList layerSpanFacts(const LayerChart &chart, std::size_t span);
/// In the bar: "experts", "dispatch 2"; the second and third are shorter.
[[nodiscard]] QStringList layerSpanLabels(const LayerChart &chart, std::size_t span);

/// "Dispatch", with both passes in the chart "Dispatch, backward".
[[nodiscard]] QString exchangeName(const LayerExchange &exchange, bool showsPass);

/// "Stage 3: experts over 64 GPUs on 8 nodes, 4,096 tokens a GPU to 8 of 256 experts each".
[[nodiscard]] QString layerWhere(const ExpertLayer &layer);
/// "Dedup, one piece. " and why.
[[nodiscard]] QString layerChoice(const ExpertLayer &layer);

struct LayerFigure {
    QString name, value, note;
    /// time that could be less
    bool isWarning = false;
};
/// Total, what of it is exposed, computing, both exchanges.
[[nodiscard]] std::vector<LayerFigure> layerFigures(const LayerTimes &times);

/// A line of the table of exchanges: name, time, then each way that some exchange uses, then logical.
struct ExchangeTable {
    QStringList heads;
    std::vector<QStringList> lines;
};
[[nodiscard]] ExchangeTable exchangeTable(const LayerChart &chart);

} // namespace trainyard
