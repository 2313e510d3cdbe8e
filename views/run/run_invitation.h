#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the page about a run shows before there is one: what can be dropped there, and that nothing leaves the machine.

#include "views/parts/invitation.h"

namespace trainyard {

[[nodiscard]] Invitation::Words runInvitation();

} // namespace trainyard
