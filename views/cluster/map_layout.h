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

/// How finely the map shows hardware: one cell a GPU, one cell a node, or bars whose length counts GPUs.
enum class MapDetail { Gpus, Nodes, Bars };

struct PoolSpec {
    int pool = 0;                          // index into Datacenter::pools
    int nodes = 0, gpusPerNode = 0;
};

struct GroupSpec {                         // pools of one GPU type, laid out as one run of nodes
    std::vector<PoolSpec> pools;
    double labelWidth = 60;                // groups that are narrow enough stand side by side
};

struct IslandSpec {
    std::optional<QPointF> place;          // longitude, latitude in degrees
    std::optional<QPointF> pinned;         // centre as a share of the area, where a person put it
    double minWidth = 120;                 // for its title and labels
    std::vector<GroupSpec> groups;         // with more than one, each has a label row
};

struct LinkSpec {
    int a = 0, b = 0;
    QSizeF card;
    QSizeF chip;                           // the card's short form, where there is little room
};

struct MapSpec {
    std::vector<IslandSpec> islands;
    std::vector<LinkSpec> links;
    double titleHeight = 40;               // of an island: title bar and subtitle
    double labelHeight = 16;               // of a group
};

struct PoolSlots {
    int pool = 0;
    int firstSlot = 0, nodes = 0, gpusPerNode = 0;
    int firstGpu = 0;                      // of the group
};

struct GroupLayout {
    QRectF label;                          // press here = the whole pool; the subtitle where there is one group
    QRectF grid;
    int columns = 1;
    QSizeF node;                           // size of the largest node
    double gap = 4;                        // between nodes
    int gpus = 0;
    std::vector<PoolSlots> pools;
};

struct IslandLayout {
    QRectF frame, title;
    double unit = 4;                       // pitch of a GPU cell (Gpus), side of a node cell (Nodes)
    std::vector<GroupLayout> groups;
};

struct LinkLayout {
    QPointF from, bend, to;                // a quadratic curve between the islands' edges
    QRectF card;                           // null where there is no room at all
    bool isChip = false;                   // the card has its short form
    bool visible = false;                  // false where the islands touch
};

struct MapLayout {
    QRectF area;
    MapDetail detail = MapDetail::Gpus;
    std::vector<IslandLayout> islands;
    std::vector<LinkLayout> links;
};

struct MapHit {
    enum class Kind { None, Island, Title, Pool, Node, Gpu, Handle, Link };
    Kind kind = Kind::None;
    int island = -1, pool = -1, gpu = -1;  // gpu: the first of the node for Kind::Node
    int link = -1;
    bool operator==(const MapHit &) const = default;
};

/// Lays the map out in `area` as large as it fits; islands never overlap.
[[nodiscard]] MapLayout layOutMap(const MapSpec &spec, QRectF area);
/// The same map with other contents in frames that stay where they are (a preview while a drag hovers).
[[nodiscard]] MapLayout refillMap(const MapSpec &spec, const MapLayout &kept);

[[nodiscard]] MapHit hitTest(const MapLayout &layout, QPointF at);
[[nodiscard]] QRectF nodeRect(const MapLayout &layout, int island, int pool, int node);
[[nodiscard]] QRectF gpuRect(const MapLayout &layout, int island, int pool, int gpu);
/// Whole rows of the pool's nodes (or its part of a bar), for focus and selection.
[[nodiscard]] QRectF poolRect(const MapLayout &layout, int island, int pool);
/// Middles of the left, right, top and bottom edge: where a new link starts.
[[nodiscard]] std::array<QPointF, 4> handlePoints(const QRectF &frame);
[[nodiscard]] QPointF pointOnLink(const LinkLayout &link, double t);

} // namespace trainyard
