// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/advice/fix_search.h"

#include "core/iteration/iteration_costs/task_count.h"

namespace trainyard {

std::string FixSearch::whatWasLeftOut() const
{
    return m_footprints.isCut() ? ". Fixes were looked for in plans of " + taskCountText(kMostFixTasks)
            + " simulated tasks together; trainyard-cli fit looks further"
                                : std::string();
}

} // namespace trainyard
