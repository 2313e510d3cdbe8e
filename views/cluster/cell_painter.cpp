// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/cluster/cell_painter.h"

#include "views/cluster/node_shape.h"
#include "views/theme/theme.h"
#include "views/theme/turn_colors.h"

#include <QFontMetricsF>
#include <QLocale>
#include <QPainter>

#include <algorithm>
#include <cmath>
#include <map>

namespace trainyard {

namespace {

/// Rectangles collected by stage, so that each colour is one call.
class Batch {
public:
    void add(int stage, const QRectF &rect) { m_rects[stage].push_back(rect); }

    void paint(QPainter &painter, int stages, bool stale) const
    {
        painter.setRenderHint(QPainter::Antialiasing, false);
        for (const auto &[stage, rects] : m_rects) {
            if (stage == kIdleStage) {
                paintIdle(painter, rects);
                continue;
            }
            painter.setPen(Qt::NoPen);
            painter.setBrush(cellColour(stage, stages, stale));
            painter.drawRects(rects.data(), int(rects.size()));
        }
    }

private:
    static void paintIdle(QPainter &painter, const std::vector<QRectF> &rects)
    {
        const QColor line = theme().warning;
        const bool roomy = rects.front().width() >= 7 && rects.front().height() >= 7;
        painter.setPen(Qt::NoPen);
        if (roomy) {
            painter.setBrush(QBrush(withAlpha(line, 0.55), Qt::BDiagPattern));
            painter.drawRects(rects.data(), int(rects.size()));
        }
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(withAlpha(line, roomy ? 0.9 : 0.75), 1));
        for (const QRectF &rect : rects)
            painter.drawRect(rect.adjusted(0, 0, -1, -1));
    }

    std::map<int, std::vector<QRectF>> m_rects;
};

void addNode(Batch &batch, const PoolScene &pool, int node, const QRectF &rect)
{
    const auto first = pool.stageOfGpu.begin() + std::ptrdiff_t(node) * pool.gpusPerNode;
    const auto last = first + pool.gpusPerNode;
    for (auto run = first; run != last;) {
        const auto end = std::find_if(run, last, [&](int stage) { return stage != *run; });
        const double x = std::round(rect.left() + rect.width() * double(run - first) / pool.gpusPerNode);
        const double right = std::round(rect.left() + rect.width() * double(end - first) / pool.gpusPerNode);
        batch.add(*run, { x, rect.top(), std::max(1.0, right - x), rect.height() });
        run = end;
    }
}

void addCells(Batch &batch, const PoolScene &pool, const NodeShape &shape, double gap, int node, QPointF origin)
{
    for (int i = 0; i < pool.gpusPerNode; ++i) {
        const QPointF at = origin
            + QPointF(kNodePad + (i % shape.columns) * shape.pitch.width(),
                kNodePad + (i / shape.columns) * shape.pitch.height());
        batch.add(pool.stageOfGpu[std::size_t(node * pool.gpusPerNode + i)],
            { at, QSizeF(shape.pitch.width() - gap, shape.pitch.height() - gap) });
    }
}

void paintNodes(QPainter &painter, const MapScene &scene, const IslandScene &island, const MapLayout &layout,
    const IslandLayout &place, const GroupLayout &group, bool stale)
{
    Batch batch;
    std::vector<QRectF> frames;
    const QRectF seen = layout.shown.adjusted(-Theme::kPad, 0, Theme::kPad, Theme::kPad); // of a zoomed map a part
    for (const PoolSlots &locations : group.pools) {
        const PoolScene &pool = island.pools[std::size_t(locations.pool)];
        const NodeShape shape = nodeShape(layout.detail, place.unit, pool.gpusPerNode);
        for (int node = 0; node < pool.nodes; ++node) {
            const int slot = locations.firstSlot + node;
            const QPointF at(group.grid.left() + (slot % group.columns) * (group.node.width() + group.gap),
                group.grid.top() + (slot / group.columns) * (group.node.height() + group.gap));
            if (at.y() > seen.bottom())
                break;
            if (!seen.intersects({ at, shape.size }))
                continue;
            if (layout.detail == MapDetail::Nodes) {
                addNode(batch, pool, node, { at, shape.size });
            } else {
                frames.emplace_back(at, shape.size);
                addCells(batch, pool, shape, cellGap(place.unit), node, at);
            }
        }
    }
    if (!frames.empty()) {
        painter.setRenderHint(QPainter::Antialiasing, false);
        painter.setPen(Qt::NoPen);
        painter.setBrush(withAlpha(theme().panel, 0.55));
        painter.drawRects(frames.data(), int(frames.size()));
    }
    batch.paint(painter, scene.stages, stale);
}

struct StageCount {
    int stage, gpus;
};

/// Stages in the order in which they first occur, with how many GPUs serve each.
std::vector<StageCount> countStages(const IslandScene &island, const GroupLayout &group)
{
    std::vector<StageCount> counts;
    for (const PoolSlots &locations : group.pools) {
        for (const int stage : island.pools[std::size_t(locations.pool)].stageOfGpu) {
            auto found = std::ranges::find(counts, stage, &StageCount::stage);
            if (found == counts.end())
                found = counts.insert(counts.end(), { stage, 0 });
            ++found->gpus;
        }
    }
    return counts;
}

void paintBar(QPainter &painter, const MapScene &scene, const IslandScene &island, const GroupLayout &group, bool stale)
{
    struct Label {
        QRectF part;
        QString text;
        QColor ink;
    };
    Batch batch;
    std::vector<Label> labels;
    const double perGpu = group.grid.width() / std::max(1, group.gpus);
    double x = group.grid.left();
    for (const StageCount &count : countStages(island, group)) {
        const QRectF part(x, group.grid.top(), std::max(1.0, count.gpus * perGpu - 1), group.grid.height());
        batch.add(count.stage, part);
        if (count.stage >= 0)
            labels.push_back({ part, QLocale(QLocale::English).toString(count.gpus),
                inkOn(cellColour(count.stage, scene.stages, false)) });
        x += count.gpus * perGpu;
    }
    batch.paint(painter, scene.stages, stale);
    painter.setFont(uiFont(-2, QFont::DemiBold));
    const QFontMetricsF metrics(painter.font());
    for (const Label &label : labels) {
        if (metrics.horizontalAdvance(label.text) + 6 > label.part.width()
            || metrics.height() > label.part.height() + 1)
            continue;
        painter.setPen(label.ink);
        painter.drawText(label.part, Qt::AlignCenter, label.text);
    }
}

struct Chip {
    QRectF rect;
    QString text;
};

struct Band {
    int stage = 0, gpus = 0, largest = 0;
    double top = 0, bottom = 0;
};

/// Rows of cells by stage: how many GPUs, and where most of them lie.
std::vector<Band> stageBands(
    const IslandScene &island, const MapLayout &layout, int islandIndex, const GroupLayout &group)
{
    std::vector<Band> bands;
    for (const PoolSlots &locations : group.pools) {
        const PoolScene &pool = island.pools[std::size_t(locations.pool)];
        const int perNode = std::max(1, pool.gpusPerNode);
        for (const GpuRun &run : pool.runs) {
            auto band = std::ranges::find(bands, run.stage, &Band::stage);
            if (band == bands.end())
                band = bands.insert(bands.end(), Band { run.stage });
            band->gpus += run.gpus;
            if (run.gpus <= band->largest)
                continue;
            band->largest = run.gpus;
            band->top = nodeRect(layout, islandIndex, locations.pool, run.firstGpu / perNode).top();
            band->bottom =
                nodeRect(layout, islandIndex, locations.pool, (run.firstGpu + run.gpus - 1) / perNode).bottom();
        }
    }
    return bands;
}

/// "stage 5 · 1,024" on the cells of each stage, in as many columns as keep them apart; none where they would crowd
/// each other.
std::vector<Chip> stageChips(const QFontMetricsF &metrics, const IslandScene &island, const MapLayout &layout,
    int islandIndex, const GroupLayout &group)
{
    constexpr double leastBand = 5;
    const std::vector<Band> bands = stageBands(island, layout, islandIndex, group);
    const double used = std::min(group.grid.width(), group.columns * (group.node.width() + group.gap)),
                 height = metrics.height();
    for (const bool isLong : { true, false }) {
        for (int columns = 1; columns <= 4; ++columns) {
            std::vector<Chip> chips;
            bool fits = true;
            for (std::size_t b = 0; b < bands.size() && fits; ++b) {
                const QString count = QLocale(QLocale::English).toString(bands[b].gpus);
                const QString text = (isLong ? QStringLiteral("stage %1 · %2") : QStringLiteral("%1 · %2"))
                                         .arg(bands[b].stage + 1)
                                         .arg(count);
                const double width = metrics.horizontalAdvance(text) + 10,
                             middle = (bands[b].top + bands[b].bottom) / 2;
                const double centre = group.grid.left() + used * (double(b % std::size_t(columns)) + 0.5) / columns;
                const double top = std::clamp(std::round(middle - height / 2), group.grid.top(),
                    std::max(group.grid.top(), group.grid.bottom() - height));
                const QRectF chip(std::round(centre - width / 2), top, width, height);
                fits = width + 6 <= used / columns && bands[b].bottom - bands[b].top >= leastBand
                    && std::ranges::none_of(
                        chips, [&](const Chip &other) { return other.rect.intersects(chip.adjusted(0, -2, 0, 2)); });
                chips.push_back({ chip, text });
            }
            if (fits)
                return chips;
        }
    }
    return {};
}

void paintStageChips(
    QPainter &painter, const IslandScene &island, const MapLayout &layout, int islandIndex, const GroupLayout &group)
{
    painter.setFont(uiFont(-2, QFont::DemiBold));
    painter.setRenderHint(QPainter::Antialiasing, true);
    for (const Chip &chip : stageChips(QFontMetricsF(painter.font()), island, layout, islandIndex, group)) {
        painter.setPen(Qt::NoPen);
        painter.setBrush(withAlpha(theme().panel, 0.86));
        painter.drawRoundedRect(chip.rect, 3, 3);
        painter.setPen(theme().text);
        painter.drawText(chip.rect, Qt::AlignCenter, chip.text);
    }
}

} // namespace

QColor cellColour(int stage, int stages, bool stale)
{
    if (stage < 0)
        return withAlpha(theme().textFaint, stage == kIdleStage ? 0.25 : 0.45);
    const QColor colour = theme().stage(stage, stages);
    return stale ? withAlpha(colour, 0.7) : colour;
}

void paintGroup(QPainter &painter, const MapScene &scene, const IslandScene &island, const MapLayout &layout,
    const IslandLayout &place, const GroupLayout &group, bool stale)
{
    if (isBars(layout.detail)) {
        paintBar(painter, scene, island, group, stale);
        return;
    }
    paintNodes(painter, scene, island, layout, place, group, stale);
    if (layout.detail == MapDetail::Nodes && !stale)
        paintStageChips(painter, island, layout, int(&place - layout.islands.data()), group);
}

} // namespace trainyard
