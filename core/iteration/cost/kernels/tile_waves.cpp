// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/cost/kernels/tile_waves_internal.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

namespace trainyard {

namespace {

struct Tile {
    double height, width;
};
constexpr Tile kTiles[] = { { 256, 128 }, { 128, 256 }, { 128, 128 }, { 64, 256 }, { 256, 64 }, { 128, 64 },
    { 64, 128 }, { 64, 64 } };
constexpr int kTileCount = int(std::size(kTiles));
constexpr double kLargestTile = 1.0 / 256 + 1.0 / 128;
constexpr int kMostSplits = 8;
constexpr double kNoSplit = 1000; // a second pass that slow says: these kernels do not split

/// What the loops below need of each tile, side by side, so that they run in vector registers.
struct TileTable {
    std::array<double, kTileCount> perHeight {}, perWidth {}, area {}, excess {};
};
constexpr TileTable kTable = [] {
    TileTable table;
    for (int i = 0; i < kTileCount; ++i) {
        const auto at = std::size_t(i);
        table.perHeight[at] = 1 / kTiles[i].height;
        table.perWidth[at] = 1 / kTiles[i].width;
        table.area[at] = kTiles[i].height * kTiles[i].width;
        table.excess[at] = table.perHeight[at] + table.perWidth[at] - kLargestTile;
    }
    return table;
}();

/// std::ceil below 2^51 without a call: adding 1.5 * 2^52 leaves no room for a fraction.
inline double up(double x)
{
    constexpr double kNoFraction = 6755399441055744.0;
    const double nearest = (x + kNoFraction) - kNoFraction;
    return nearest + (nearest < x ? 1.0 : 0.0);
}

/// Waves that count, of `waves` of tiles.
inline double busyWaves(double waves, double overlap)
{
    return up(waves) * (1 - overlap) + overlap * (waves > 1 ? waves : 1.0);
}

} // namespace

double tileSeconds(const GpuSpec &gpu, const GemmCurve &curve, const TileWork &work)
{
    const double processors = gpu.multiprocessors, share = 1 / processors;
    std::array<double, kTileCount> tiles, cell;
    double best = 1e300, fewest = 1e300;
    for (std::size_t i = 0; i < kTileCount; ++i) {
        tiles[i] = work.groups * up(work.shape.m * kTable.perHeight[i]) * up(work.shape.n * kTable.perWidth[i]);
        cell[i] = kTable.area[i] * (1 + curve.tileLoss * kTable.excess[i]);
    }
    for (std::size_t i = 0; i < kTileCount; ++i) {
        best = std::min(best, busyWaves(tiles[i] * share, curve.waveOverlap) * cell[i]);
        fewest = std::min(fewest, tiles[i]);
    }
    const double perCell = 2 * processors / work.flopsPerSecond; // seconds of one result element and one step of k
    best *= perCell * (work.shape.k + curve.marginK);
    if (fewest > processors || curve.splitUs >= kNoSplit)
        return best;
    // Few tiles: several multiprocessors share the k loop of one, in 32 bits; a second pass adds their parts.
    const double splitTraffic = 4 * work.groups * work.shape.m * work.shape.n / work.bytesPerSecond;
    for (int split = 2; split <= kMostSplits; split *= 2) {
        const double steps = perCell * (work.shape.k / split + curve.marginK),
                     pass = curve.splitUs * 1e-6 + split * splitTraffic;
        for (std::size_t i = 0; i < kTileCount; ++i) {
            if (tiles[i] * split <= 2 * processors)
                best = std::min(best, busyWaves(tiles[i] * split * share, curve.waveOverlap) * cell[i] * steps + pass);
        }
    }
    return best;
}

Seconds kernelSeconds(const GpuSpec &gpu, const GemmCurve &curve, double compute, double bytes)
{
    const double warm = compute + curve.slowdown * compute * compute / (compute + curve.slowdownMs * 1e-3);
    // What fits the cache is still there from before: the share that must be read rises with the square of the size.
    const double filled = bytes / (curve.cacheMbytes * 1e6 + 1), missed = filled * filled / (1 + filled * filled);
    const double memory = bytes * missed / (gpu.memoryGBps * 1e9 * curve.memoryFraction);
    // The smooth maximum of both: the fourth root of the sum of fourth powers.
    const double compute2 = warm * warm, memory2 = memory * memory;
    return Seconds { curve.launchUs * 1e-6 + std::sqrt(std::sqrt(compute2 * compute2 + memory2 * memory2))
        + curve.memoryExposed * memory };
}

} // namespace trainyard
