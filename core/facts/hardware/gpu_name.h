#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What sentences call a GPU. Pure function.

#include "core/facts/hardware/gpu_spec.h"

namespace trainyard {

/// Its name without its maker: "A100 SXM 80 GB".
[[nodiscard]] std::string shortName(const GpuSpec &gpu);

} // namespace trainyard
