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
    /// index into Datacenter::pools
    int pool = 0;
    int nodes = 0, gpusPerNode = 0;
    bool operator==(const PoolSpec &) const = default;
};

struct GroupSpec { // pools of one GPU type, laid out as one run of nodes
    std::vector<PoolSpec> pools;
    /// groups that are narrow enough stand side by side
    double labelWidth = 60;
    bool operator==(const GroupSpec &) const = default;
};

struct IslandSpec {
    /// longitude, latitude in degrees
    std::optional<QPointF> place;
    /// centre as a share of the area, where a person put it
    std::optional<QPointF> pinned;
    /// for its name and all that is said below it
    double minWidth = 120;
    /// for its name alone, in two lines where it is long
    double tightWidth = 90;
    /// of the name in one line
    double nameWidth = 0;
    /// the same two for a tile
    double tileWidth = 60, tileNameWidth = 0;
    /// with more than one, each has a label row
    std::vector<GroupSpec> groups;
    bool operator==(const IslandSpec &) const = default;
};

/// A label has three forms: as much as there is room for is shown, and never nothing.
struct LinkSpec {
    int a = 0, b = 0;
    QSizeF card, chip, tag;
    /// false: shown only while someone looks at it or at one of its ends
    bool isResting = true;
    bool operator==(const LinkSpec &) const = default;
};

struct MapSpec {
    std::vector<IslandSpec> islands;
    std::vector<LinkSpec> links;
    /// of an island: a name of one line and the subtitle
    double titleHeight = 40;
    double nameLine = 17, subtitleLine = 16;
    double tileLine = 14;
    /// of a group
    double labelHeight = 16;
    /// the island that was put down last: the others make room for it
    int held = -1;
    bool operator==(const MapSpec &) const = default;
};

struct PoolSlots {
    int pool = 0;
    int firstSlot = 0, nodes = 0, gpusPerNode = 0;
    /// of the group
    int firstGpu = 0;
};

struct GroupLayout {
    /// press here = the whole pool; the subtitle where there is one group
    QRectF label;
    QRectF grid;
    int columns = 1;
    /// size of the largest node
    QSizeF node;
    /// between nodes
    double gap = 4;
    int gpus = 0;
    std::vector<PoolSlots> pools;
};

struct IslandLayout {
    QRectF frame, title;
    /// pitch of a GPU cell (Gpus), side of a node cell (Nodes)
    double unit = 4;
    std::vector<GroupLayout> groups;
};

enum class LinkLabel { Card, Chip, Tag };

struct LinkLayout {
    /// a quadratic curve between the islands' edges
    QPointF from, bend, to;
    /// lies on the curve
    QRectF card;
    LinkLabel label = LinkLabel::Card;
    /// false where the islands touch, and for links that do not rest here
    bool visible = false;
};

struct MapLayout {
    /// the whole ground, larger than what is shown of it where the map is zoomed
    QRectF area;
    QRectF shown;
    MapDetail detail = MapDetail::Gpus;
    std::vector<IslandLayout> islands;
    std::vector<LinkLayout> links;
};

struct MapHit {
    enum class Kind { None, Island, Title, Pool, Node, Gpu, Handle, Link };
    Kind kind = Kind::None;
    /// gpu: the first of the node for Kind::Node
    int island = -1, pool = -1, gpu = -1;
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
