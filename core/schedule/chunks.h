#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Which virtual stages a device of a pipeline holds. A pipeline of p devices with v chunks each has p * v virtual stages
// in the order of the layers; the placement deals them to the devices. Placement of layers, costs, memory and programs
// all ask here, so that a chunk's layers, its time and its operations are the same chunk's.

#include "core/plan/plan.h"

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
    return placement == ChunkPlacement::Bidirectional || placement == ChunkPlacement::Slices ? devices : devices * chunks;
}

[[nodiscard]] constexpr ChunkPlacement chunkPlacement(ScheduleKind kind)
{
    switch (kind) {
    case ScheduleKind::ZbV:
    case ScheduleKind::VHalf:
    case ScheduleKind::VMin:
    case ScheduleKind::DualPipeV:
    case ScheduleKind::Hanayo: return ChunkPlacement::V;
    case ScheduleKind::DualPipe:
    case ScheduleKind::Chimera: return ChunkPlacement::Bidirectional;
    case ScheduleKind::TeraPipe: return ChunkPlacement::Slices;
    default: return ChunkPlacement::Loop;
    }
}

/// Copies of the model that one pipeline holds.
[[nodiscard]] constexpr int modelCopies(ScheduleKind kind)
{
    return chunkPlacement(kind) == ChunkPlacement::Bidirectional ? 2 : 1;
}

/// Chunks of layers a device holds. Schedules that are made for two take two by themselves where the plan asks for one,
/// its default; any other number is left for makeProgram to refuse.
[[nodiscard]] constexpr int chunksPerStage(ScheduleKind kind, int virtualPipeline)
{
    const ChunkPlacement placement = chunkPlacement(kind);
    return virtualPipeline == 1 && (placement == ChunkPlacement::V || placement == ChunkPlacement::Bidirectional) ? 2 : virtualPipeline;
}
/// Whether makeProgram takes that many.
[[nodiscard]] constexpr bool acceptsChunks(ScheduleKind kind, int chunks)
{
    switch (kind) {
    case ScheduleKind::Interleaved: return chunks > 1;
    case ScheduleKind::BreadthFirst: return true;
    case ScheduleKind::ZbV:
    case ScheduleKind::VHalf:
    case ScheduleKind::VMin:
    case ScheduleKind::DualPipe:
    case ScheduleKind::DualPipeV:
    case ScheduleKind::Chimera: return chunks == 2;
    case ScheduleKind::Hanayo: return chunks % 2 == 0;
    default: return chunks == 1;
    }
}
/// Whether a device's last operations are weight gradients, all that its gradient reduction can hide behind.
[[nodiscard]] constexpr bool endsWithWeightGrads(ScheduleKind kind)
{
    switch (kind) {
    case ScheduleKind::ZbH1:
    case ScheduleKind::ZbH2:
    case ScheduleKind::ZbV:
    case ScheduleKind::ZbAuto:
    case ScheduleKind::VHalf:
    case ScheduleKind::VMin:
    case ScheduleKind::DualPipe:
    case ScheduleKind::DualPipeV: return true;
    default: return false;
    }
}
/// What an order of work is made by: the shape alone; the operations' times; also the slices of the tokens, which are cut by times;
/// or what is free while it runs.
enum class OrderedBy : std::uint8_t { Shape, Times, Slices, RunTime };

[[nodiscard]] constexpr OrderedBy orderedBy(ScheduleKind kind)
{
    switch (kind) {
    case ScheduleKind::ZbV:
    case ScheduleKind::ZbAuto:
    case ScheduleKind::VHalf:
    case ScheduleKind::VMin:
    case ScheduleKind::Chimera: return OrderedBy::Times;
    case ScheduleKind::TeraPipe: return OrderedBy::Slices;
    case ScheduleKind::Varuna:
    case ScheduleKind::Atlas: return OrderedBy::RunTime;
    default: return OrderedBy::Shape;
    }
}
/// Whether forwards run together with backwards, kernel by kernel.
[[nodiscard]] constexpr bool pairsOperations(ScheduleKind kind)
{
    return kind == ScheduleKind::DualPipe || kind == ScheduleKind::DualPipeV;
}

} // namespace trainyard
