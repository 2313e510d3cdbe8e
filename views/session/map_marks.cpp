// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/session/map_marks.h"

#include <QCoreApplication>
#include <QLineF>

#include <algorithm>

namespace trainyard {

namespace {

constexpr double kNearLink = 7; // pixels
constexpr int kStepsOfLink = 24;

QString marksText(const char *source)
{
    return QCoreApplication::translate("MapMarks", source);
}

int islandOf(const MapScene &scene, const std::string &id)
{
    const auto found = std::ranges::find(scene.islands, QString::fromStdString(id), &IslandScene::id);
    return found == scene.islands.end() ? -1 : int(found - scene.islands.begin());
}

int linkOf(const MapScene &scene, const std::vector<std::string> &ends)
{
    const int a = islandOf(scene, ends.front()), b = islandOf(scene, ends.back());
    for (std::size_t i = 0; i < scene.links.size(); ++i) {
        const LinkScene &link = scene.links[i];
        if (a >= 0 && b >= 0 && ((link.a == a && link.b == b) || (link.a == b && link.b == a)))
            return int(i);
    }
    return -1;
}

MapMark &markOf(std::vector<MapMark> &marks, MapItem item, const QString &name)
{
    const auto found = std::ranges::find(marks, item, &MapMark::item);
    if (found != marks.end())
        return *found;
    marks.push_back({ item, {}, {}, { name } });
    return marks.back();
}

void addParts(MapMark &mark, const MapScene &scene, const std::vector<int> &stages)
{
    const auto &pools = scene.islands[std::size_t(mark.item.island)].pools;
    for (std::size_t p = 0; p < pools.size(); ++p)
        for (const GpuRun &run : pools[p].runs)
            if (std::ranges::find(stages, run.stage) != stages.end())
                mark.parts.push_back({ .kind = MapItem::Kind::Gpus,
                    .island = mark.item.island,
                    .pool = int(p),
                    .firstGpu = run.firstGpu,
                    .gpus = run.gpus });
}

} // namespace

std::vector<MapMark> mapMarks(const MapChanges &changes, const MapScene &scene)
{
    std::vector<MapMark> marks;
    for (const MapChange &change : changes.changes) {
        if (change.kind == MapChange::Kind::Link) {
            if (const int link = linkOf(scene, change.datacenters); link >= 0)
                markOf(marks, { .kind = MapItem::Kind::Link, .link = link }, scene.links[std::size_t(link)].name).lines
                    << change.text;
            continue;
        }
        for (const std::string &id : change.datacenters) {
            const int island = islandOf(scene, id);
            if (island < 0)
                continue;
            MapMark &mark = markOf(
                marks, { .kind = MapItem::Kind::Island, .island = island }, scene.islands[std::size_t(island)].title);
            mark.lines << change.text;
            addParts(mark, scene, change.stages);
            if (!change.brief.isEmpty())
                mark.brief += mark.brief.isEmpty() ? change.brief : QStringLiteral(" ") + change.brief;
        }
    }
    for (MapMark &mark : marks) {
        if (mark.item.kind != MapItem::Kind::Island)
            continue;
        if (mark.brief.isEmpty())
            mark.brief = marksText("moved");
        int gpus = 0;
        for (const MapItem &part : mark.parts)
            gpus += part.gpus;
        if (gpus >= scene.islands[std::size_t(mark.item.island)].gpus)
            mark.parts.clear(); // all of them: the badge says it more calmly
    }
    std::ranges::stable_sort(marks, {}, [](const MapMark &mark) { return mark.item.kind == MapItem::Kind::Link; });
    return marks;
}

QRectF badgeOf(const MapMark &mark, const MapLayout &layout, double textWidth, double textHeight)
{
    if (mark.item.kind != MapItem::Kind::Island || mark.item.island >= int(layout.islands.size()))
        return {};
    const QRectF frame = layout.islands[std::size_t(mark.item.island)].frame;
    const QSizeF size(textWidth + 12, textHeight + 2);
    return { QPointF(frame.right() - size.width() - 6, frame.top() - size.height() / 2), size };
}

const MapMark *markAt(const std::vector<MapMark> &marks, const MapLayout &layout, QPointF at)
{
    const auto isAt = [&](const MapMark &mark) {
        if (mark.item.kind == MapItem::Kind::Island)
            return mark.item.island < int(layout.islands.size())
                && layout.islands[std::size_t(mark.item.island)].frame.adjusted(-2, -10, 2, 2).contains(at);
        if (mark.item.link >= int(layout.links.size()) || !layout.links[std::size_t(mark.item.link)].visible)
            return false;
        const LinkLayout &link = layout.links[std::size_t(mark.item.link)];
        if (link.card.contains(at))
            return true;
        for (int step = 0; step <= kStepsOfLink; ++step)
            if (QLineF(pointOnLink(link, double(step) / kStepsOfLink), at).length() <= kNearLink)
                return true;
        return false;
    };
    const auto found = std::ranges::find_if(marks, isAt);
    return found == marks.end() ? nullptr : &*found;
}

} // namespace trainyard
