#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// For what is built into the program. Tests read it all, so a fault in it is a broken build and not a user's: it is
// printed and ends the program.

#include "core/base/error.h"

#include <cstdlib>
#include <iostream>

namespace trainyard {

template <class T> [[nodiscard]] T orAbort(ExpectedAll<T> loaded)
{
    if (loaded)
        return *std::move(loaded);
    for (const Error &error : loaded.error())
        std::cerr << toString(error) << '\n';
    std::abort();
}

} // namespace trainyard
