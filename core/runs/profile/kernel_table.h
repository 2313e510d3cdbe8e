#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The kernels of a recording by name and shape, the longest first, with what each kind of work takes; and the table of
// one run beside that of another: which kernels are new, gone, longer or shorter, and what of the difference each is.
// Times are those of the kernels, summed over streams and ranks, also where kernels run beside each other.

#include "core/runs/telemetry/recording.h"

#include <array>

namespace trainyard {

/// kinds of RecordedWork
inline constexpr std::size_t kWorkKinds = static_cast<std::size_t>(RecordedWork::Other) + 1;

/// "compute", "communication", …, as the live stream names them.
[[nodiscard]] const char *idOf(RecordedWork work);

struct KernelRow {
    /// shape: as its trace tells it ("128×1×1 of 256×1×1"); may be empty
    std::string name, shape;
    RecordedWork work = RecordedWork::Compute;
    std::int64_t count = 0;
    /// ns; exact up to 104 days
    double total = 0;
    /// ns
    std::int64_t least = 0, most = 0;
    [[nodiscard]] double mean() const { return count > 0 ? total / double(count) : 0; }
    bool operator==(const KernelRow &) const = default;
};

struct KernelTable {
    /// by total, the longest first; of equal ones by name and shape
    std::vector<KernelRow> rows;
    struct Kind {
        std::int64_t count = 0;
        /// ns
        double total = 0;
        bool operator==(const Kind &) const = default;
    };
    /// by RecordedWork
    std::array<Kind, kWorkKinds> kinds {};
    /// ns, of all rows
    double total = 0;
    /// that show work of a GPU, and steps that their profilers tell, summed over them; 1 of a rank that tells none
    std::int64_t ranks = 0, rankSteps = 0;
};
/// Of kernels and copies of all ranks whose times can be compared. `isByShape`: kernels of one name and several shapes
/// are several rows.
[[nodiscard]] KernelTable kernelTable(const Recording &recording, bool isByShape = true);

enum class KernelChange : std::uint8_t { New, Gone, Longer, Shorter, Same };
/// "new", "gone", …
[[nodiscard]] const char *nameOf(KernelChange change);

/// One kernel in two runs; times are nanoseconds. difference() = byCount + byMean.
struct KernelDifference {
    std::string name, shape;
    /// of the second run, of what is gone of the first
    RecordedWork work = RecordedWork::Compute;
    /// by the mean of those that both have
    KernelChange change = KernelChange::Same;
    double countBefore = 0, countAfter = 0;
    double before = 0, after = 0;
    /// more of them, at the mean of before (of new ones at their own); each longer
    double byCount = 0, byMean = 0;
    [[nodiscard]] double difference() const { return after - before; }
    [[nodiscard]] double meanBefore() const { return countBefore > 0 ? before / countBefore : 0; }
    [[nodiscard]] double meanAfter() const { return countAfter > 0 ? after / countAfter : 0; }
};

struct KernelDifferences {
    /// by what each is of the difference, the largest first whatever its sign
    std::vector<KernelDifference> rows;
    /// ns: all kernels of each run; the differences of the rows add up to after - before
    double before = 0, after = 0;
    /// Counts and times are of one step of one rank, else of all that was recorded.
    bool isPerStep = false;
};
/// `isPerStep`: divided by the steps and ranks of each run, so that runs of different length can be compared.
[[nodiscard]] KernelDifferences kernelDifferences(
    const KernelTable &before, const KernelTable &after, bool isPerStep = false);

} // namespace trainyard
