#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The version of Trainyard that writes a file, as the build states it (project() of the top CMakeLists.txt).

namespace trainyard {

/// "0.2.0": what reports, traces and sweeps say that they were written by.
const char *productVersion();

} // namespace trainyard
