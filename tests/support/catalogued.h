#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Entries of the built-in catalogue by their ids. One that is not there ends the test.

#include "core/facts/catalogue/catalogue.h"

#include <QtGlobal>

#include <string>

namespace trainyard::test {

inline const GpuSpec &gpu(const std::string &id)
{
    const GpuSpec *found = builtinCatalogue().gpu(id);
    if (!found)
        qFatal("no GPU %s", id.c_str());
    return *found;
}

inline const ModelSpec &model(const std::string &id)
{
    const ModelSpec *found = builtinCatalogue().model(id);
    if (!found)
        qFatal("no model %s", id.c_str());
    return *found;
}

} // namespace trainyard::test
