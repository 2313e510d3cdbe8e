#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a kernel of the GPU does, by its name: "nccl in the name" is no classifier (DeepSeek's dispatches are
// dpsk::ep::…, RCCL's kernels are Generic), so that it is a table, which a user may put rows before.

#include "core/runs/telemetry/recording.h"

#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

/// The first row whose pattern matches decides. A `*` stands for any text; without one, the name begins with it.
struct KernelClass {
    /// "*dpsk::ep::*"
    std::string pattern;
    RecordedWork work = RecordedWork::Communication;
    bool operator==(const KernelClass &) const = default;
};

class KernelClasses {
public:
    /// `before`: rows of the user, which win over the built-in ones.
    explicit KernelClasses(std::vector<KernelClass> before = {});
    /// Compute where no row matches
    [[nodiscard]] RecordedWork workOf(std::string_view name) const;
    [[nodiscard]] const std::vector<KernelClass> &rows() const { return m_rows; }

private:
    std::vector<KernelClass> m_rows;
};

[[nodiscard]] const KernelClasses &builtinKernelClasses();

/// What the name of a communication kernel tells: ncclDevKernel_AllReduce_Sum_bf16_RING_LL(…), and older
/// ncclKernel_AllReduce_RING_LL_Sum_half(…); RCCL's ncclDevKernel_Generic tells nothing.
struct NcclKernelName {
    /// "all_reduce", "send_recv", "dispatch"; empty: not told
    std::string operation;
    /// 0: not told
    double elementBytes = 0;
};
[[nodiscard]] NcclKernelName readNcclKernelName(std::string_view name);

/// Of an element, by the names of PyTorch ("BFloat16", "c10::Half", "long int") and of NCCL ("f16", "int8_t"); 0: no
/// such type.
[[nodiscard]] double bytesOfType(std::string_view type);

} // namespace trainyard
