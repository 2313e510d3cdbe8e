#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// `trainyard --report PLAN --out OUT.pdf`: a report without a window, for scripts and for trainyard-cli, which knows no
// fonts.

#include <QString>

namespace trainyard {

/// Exit code: 0, or 2 with what is wrong on standard error. `plan` may be "-", a plan on standard input.
[[nodiscard]] int writeReport(const QString &plan, const QString &out);

} // namespace trainyard
