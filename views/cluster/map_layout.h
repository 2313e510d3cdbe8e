#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Where everything on the cluster map lies: islands, pools, nodes, GPUs, WAN links and their cards. Pure geometry made
// from sizes and counts, in widget pixels; knows neither plans nor painters, so it is tested alone.

#include <QPointF>
#include <QRectF>
#include <QSizeF>

#include <array>
#include <optional>
#include <vector>

namespace trainyard {

/// How finely the map shows hardware: one cell per GPU, one cell per node, bars whose length counts GPUs, or tiles that
/// hold a datacenter's name over one such bar.
enum class MapDetail { Gpus, Nodes, Bars, Tiles };
[[nodiscard]] constexpr bool isBars(MapDetail detail)
{
    return detail == MapDetail::Bars || detail == MapDetail::Tiles;
}

struct PoolSpec {
    int pool = 0; // index into Datacenter::pools
    int nodes = 0, gpusPerNode = 0;
    bool operator==(const PoolSpec &) const = default;
};

struct GroupSpec { // pools of one GPU type, laid out as one run of nodes
    std::vector<PoolSpec> pools;
    double labelWidth = 60; // groups that are narrow enough stand side by side
    bool operator==(const GroupSpec &) const = default;
};

struct IslandSpec {
    std::optional<QPointF> place; // longitude, latitude in degrees
    std::optional<QPointF> pinned; // centre as a share of the area, where a person put it
    double minWidth = 120; // for its name and all that is said below it
    double tightWidth = 90; // for its name alone, in two lines where it is long
    double nameWidth = 0; // of the name in one line
    double tileWidth = 60, tileNameWidth = 0; // the same two for a tile
    std::vector<GroupSpec> groups; // with more than one, each has a label row
    bool operator==(const IslandSpec &) const = default;
};

/// A label has three forms: as much as there is room for is shown, and never nothing.
struct LinkSpec {
    int a = 0, b = 0;
    QSizeF card, chip, tag;
    bool isResting = true; // false: shown only while someone looks at it or at one of its ends
    bool operator==(const LinkSpec &) const = default;
};

struct MapSpec {
    std::vector<IslandSpec> islands;
    std::vector<LinkSpec> links;
    double titleHeight = 40; // of an island: a name of one line and the subtitle
    double nameLine = 17, subtitleLine = 16;
    double tileLine = 14;
    double labelHeight = 16; // of a group
    int held = -1; // the island that was put down last: the others make room for it
    bool operator==(const MapSpec &) const = default;
};

struct PoolSlots {
    int pool = 0;
    int firstSlot = 0, nodes = 0, gpusPerNode = 0;
    int firstGpu = 0; // of the group
};

struct GroupLayout {
    QRectF label; // press here = the whole pool; the subtitle where there is one group
    QRectF grid;
    int columns = 1;
    QSizeF node; // size of the largest node
    double gap = 4; // between nodes
    int gpus = 0;
    std::vector<PoolSlots> pools;
};

struct IslandLayout {
    QRectF frame, title;
    double unit = 4; // pitch of a GPU cell (Gpus), side of a node cell (Nodes)
    std::vector<GroupLayout> groups;
};

enum class LinkLabel { Card, Chip, Tag };

struct LinkLayout {
    QPointF from, bend, to; // a quadratic curve between the islands' edges
    QRectF card; // lies on the curve
    LinkLabel label = LinkLabel::Card;
    bool visible = false; // false where the islands touch, and for links that do not rest here
};

struct MapLayout {
    QRectF area; // the whole ground, larger than what is shown of it where the map is zoomed
    QRectF shown;
    MapDetail detail = MapDetail::Gpus;
    std::vector<IslandLayout> islands;
    std::vector<LinkLayout> links;
};

struct MapHit {
    enum class Kind { None, Island, Title, Pool, Node, Gpu, Handle, Link };
    Kind kind = Kind::None;
    int island = -1, pool = -1, gpu = -1; // gpu: the first of the node for Kind::Node
    int link = -1;
    bool operator==(const MapHit &) const = default;
};

/// Lays the map out in `area` as large as it fits; islands never overlap.
[[nodiscard]] MapLayout layOutMap(const MapSpec &spec, QRectF area);
/// The map after a change: islands stay where they are and as large as they are wherever their contents still fit, so
/// that new texts, moved GPUs and an island put elsewhere move nothing else; laid out anew where they do not.
[[nodiscard]] MapLayout relayOutMap(const MapSpec &spec, const MapLayout &kept);
/// The same islands on a larger ground, of which `fit.area` is shown: names keep their size, the hardware in them grows
/// and shows what there is now room for.
[[nodiscard]] MapLayout zoomMap(const MapSpec &spec, const MapLayout &fit, QRectF ground);
/// One island elsewhere, as it follows the pointer; the rest stays, links follow.
[[nodiscard]] MapLayout shiftIsland(const MapSpec &spec, MapLayout layout, int island, QPointF by);
/// The same map with other contents in frames that stay where they are (a preview while a drag hovers).
[[nodiscard]] MapLayout refillMap(const MapSpec &spec, const MapLayout &kept);

[[nodiscard]] MapHit hitTest(const MapLayout &layout, QPointF at);
[[nodiscard]] QRectF nodeRect(const MapLayout &layout, int island, int pool, int node);
[[nodiscard]] QRectF gpuRect(const MapLayout &layout, int island, int pool, int gpu);
/// Routes a link that does not rest on the map, and labels it.
void showLink(const LinkSpec &link, int index, MapLayout &layout);
/// Whole rows of the pool's nodes (or its part of a bar), for focus and selection.
[[nodiscard]] QRectF poolRect(const MapLayout &layout, int island, int pool);
/// Middles of the left, right, top and bottom edge: where a new link starts.
[[nodiscard]] std::array<QPointF, 4> handlePoints(const QRectF &frame);
[[nodiscard]] QPointF pointOnLink(const LinkLayout &link, double t);

} // namespace trainyard
