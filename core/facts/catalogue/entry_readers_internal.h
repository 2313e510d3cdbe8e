#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// One entry of gpus.json, models.json, stacks.json or of a plan's inline objects. For the .cpp files of this
// folder.

#include "core/facts/catalogue/evidence.h"
#include "core/facts/catalogue/object_reader_internal.h"
#include "core/facts/hardware/gpu_spec.h"
#include "core/facts/hardware/stack_spec.h"
#include "core/facts/workload/model_spec.h"

#include <span>

namespace trainyard {

/// Of a doubt: the most that the time may be above what is said, as a share of it.
inline constexpr double kFarthestOff = 1000;

[[nodiscard]] GpuSpec readGpu(ObjectReader &reader);
[[nodiscard]] ModelSpec readModel(ObjectReader &reader);
[[nodiscard]] StackSpec readStack(ObjectReader &reader);
/// Of stack_releases.json; the caller reads whose it is.
[[nodiscard]] StackRelease readRelease(ObjectReader &reader);
/// Of confidence.json.
[[nodiscard]] Evidence readEvidenceEntry(ObjectReader &reader);
[[nodiscard]] LabelRange readLabelRange(ObjectReader &reader);

/// The kernel curves of one family of chips, as kernels.json holds them.
struct KernelFamily {
    GemmCurve gemm, gemmFp8, gemmBlock8, gemmFp4;
    GemmCurve grouped, groupedFp8, groupedBlock8, groupedFp4;
    AttentionCurve attention;
    bool operator==(const KernelFamily &) const = default;
};
/// One family's object, or the kernel objects of a plan's inline GPU.
[[nodiscard]] KernelFamily readKernelFamily(ObjectReader &reader);
/// The keys of a curve with their figures, as readKernelFamily takes them.
[[nodiscard]] CatalogueJson kernelFamilyJson(const KernelFamily &family);
[[nodiscard]] KernelFamily kernelFamily(const GpuSpec &gpu);
void setKernelFamily(GpuSpec &gpu, const KernelFamily &family);
/// "measured", "same family", "spec sheet"; reports anything else.
void readEvidence(ObjectReader &reader, const std::string &key, KernelEvidence &evidence);

struct StackField {
    /// Time: kernel or host time grows with it; Speed: it shrinks
    enum class Kind : std::uint8_t { Habit, Time, Speed };
    const char *key;
    /// one of the two is set
    double StackSpec::*figure;
    bool StackSpec::*flag;
    Range range;
    Kind kind = Kind::Habit;
};
[[nodiscard]] std::span<const StackField> stackFields();

} // namespace trainyard
