#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Size of a node and of the GPU cells in it at a given detail; shared by layout, hit test and painter so that they
// agree.

#include "views/cluster/map_layout.h"

namespace trainyard {

/// between an island's frame and its contents
inline constexpr double kIslandPad = 10;
/// between a node's frame and its cells
inline constexpr double kNodePad = 2;
/// between groups of one island
inline constexpr double kGroupGap = 7;
inline constexpr double kBarHeight = 22;
inline constexpr double kTilePad = 6, kTileTop = 4, kTileBar = 8;
/// a cell of 3 pixels
inline constexpr int kMinUnit = 4;
/// larger cells say no more, and leave no sea
inline constexpr int kMaxGpuUnit = 12, kMaxNodeUnit = 11;

struct NodeShape {
    /// of GPU cells
    int columns = 1, rows = 1;
    /// of a GPU cell
    QSizeF pitch;
    /// of the node
    QSizeF size;
};

[[nodiscard]] NodeShape nodeShape(MapDetail detail, double unit, int gpusPerNode);
[[nodiscard]] double nodeGap(MapDetail detail, double unit);
/// Between the GPU cells of a node.
[[nodiscard]] double cellGap(double unit);

/// Space between an island's frame and its contents, left and right.
[[nodiscard]] constexpr double sidePad(MapDetail detail)
{
    return detail == MapDetail::Tiles ? kTilePad : kIslandPad;
}
/// Lines that the island's name takes in a frame of this width: one or two.
[[nodiscard]] int nameLines(const IslandSpec &island, MapDetail detail, double width);
/// From the frame's top to its contents: the name and, unless it is a tile, the subtitle.
[[nodiscard]] double headHeight(const MapSpec &map, const IslandSpec &island, MapDetail detail, double width);

struct GroupFlow {
    /// relative to the body's corner; no labels where there is one group
    std::vector<QRectF> labels, grids;
    /// infinite where not even one node fits
    double height = 0;
    /// what is really used
    double width = 0;
};
/// Groups in rows, as many beside each other as the width takes.
[[nodiscard]] GroupFlow flowGroups(
    const IslandSpec &island, MapDetail detail, double unit, double width, double labelHeight);
/// The least height of an island's frame of this width at a unit; infinite where not even one node fits.
[[nodiscard]] double islandHeight(
    const MapSpec &map, const IslandSpec &island, MapDetail detail, double unit, double width);
/// Fills an island's frame, with the largest unit up to `unit` at which the contents fit.
[[nodiscard]] IslandLayout fillIsland(
    const IslandSpec &spec, MapDetail detail, double unit, QRectF frame, const MapSpec &map);

} // namespace trainyard
