#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the page of live runs shows while nothing is connected: what can be, and how.

#include "views/parts/invitation.h"

namespace trainyard {

[[nodiscard]] Invitation::Words liveInvitation();

} // namespace trainyard
