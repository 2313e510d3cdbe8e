#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Which virtual stages a device of a pipeline holds. A pipeline of p devices with v chunks each has p * v virtual
// stages in the order of the layers; the placement deals them to the devices. Placement of layers, costs, memory and
// programs all ask here, so that a chunk's layers, its time and its operations are the same chunk's.

#include <cstdint>

namespace trainyard {

/// Loop: q = chunk * devices + device. V: every other chunk runs back, so that with two chunks device 0 holds the first
/// and the last virtual stage. Bidirectional: two copies of the model, the second one backwards; numbered as V, but the
/// stages are two chains. Slices: one copy; the chunks are slices of the tokens and each runs through all devices, so
/// that the virtual stages are one chain a slice.
enum class ChunkPlacement : std::uint8_t { Loop, V, Bidirectional, Slices };

[[nodiscard]] constexpr bool runsBack(ChunkPlacement placement, int chunk)
{
    return (placement == ChunkPlacement::V || placement == ChunkPlacement::Bidirectional) && chunk % 2 == 1;
}
[[nodiscard]] constexpr int virtualStageAt(ChunkPlacement placement, int devices, int device, int chunk)
{
    return runsBack(placement, chunk) ? (chunk + 1) * devices - 1 - device : chunk * devices + device;
}
[[nodiscard]] constexpr int deviceAt(ChunkPlacement placement, int devices, int virtualStage)
{
    const int inChunk = virtualStage % devices;
    return runsBack(placement, virtualStage / devices) ? devices - 1 - inChunk : inChunk;
}
/// Virtual stages that follow each other from the first layer to the last; a micro-batch goes through one such chain,
/// or, in slices, through all of them.
[[nodiscard]] constexpr int stagesInChain(ChunkPlacement placement, int devices, int chunks)
{
    return placement == ChunkPlacement::Bidirectional || placement == ChunkPlacement::Slices ? devices
                                                                                             : devices * chunks;
}

} // namespace trainyard
