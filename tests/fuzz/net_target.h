#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A listener as a target: bytes reach a connection of it over loopback as they are cut, as HTTP heads, chunked and
// packed bodies, WebSocket frames or lines.

#include "tests/fuzz/targets.h"

namespace trainyard::fuzz {

[[nodiscard]] Target netTarget();

} // namespace trainyard::fuzz
