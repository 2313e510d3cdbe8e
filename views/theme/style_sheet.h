#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The look of the standard controls, made from a theme: what applyTheme gives to the application. Pure function.

#include "views/theme/theme.h"

#include <QString>

namespace trainyard {

[[nodiscard]] QString styleSheet(const Theme &theme);

} // namespace trainyard
