#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Plans whose every pool has drives, and what to ask of their evaluations.

#include "tests/support/plans.h"

#include <algorithm>

namespace offload {

using namespace trainyard;

inline Plan withDrives(Plan plan, double write = 40, double read = 50)
{
    for (Datacenter &datacenter : plan.cluster.datacenters)
        for (Pool &pool : datacenter.pools) {
            pool.ssd = Ssd {};
            pool.ssd->writeGBps = write;
            pool.ssd->readGBps = read;
            pool.ssd->endurancePb = 40;
            pool.ssd->usd = 4000;
        }
    plan.memory.activationOffload = ActivationOffload::Ssd;
    return plan;
}

inline bool hasProblem(const Evaluation &evaluation, const char *where)
{
    return std::ranges::any_of(evaluation.problems, [&](const Problem &p) { return p.where == where; });
}

} // namespace offload
