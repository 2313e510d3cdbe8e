#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The places that GPU time is compared by: stages (GPUs of plans with jobs), or datacenters, known by their ids.

#include "core/evaluation/difference/lanes_internal.h"

#include <map>

namespace trainyard::difference {

struct Place {
    /// that places stand in: stages by number, datacenters as the plans have them
    int order = 0;
    /// from 0; -1 of a datacenter
    int stage = -1;
    /// "stage 3", "GPU 2", "Virginia"
    std::string name;
};

class Places {
public:
    explicit Places(bool byDatacenter)
        : m_byDatacenter(byDatacenter)
    {
    }
    [[nodiscard]] Place of(const Evaluation &evaluation, const Lane &lane);

private:
    bool m_byDatacenter;
    std::map<std::string, int> m_datacenters; // by id
};

} // namespace trainyard::difference
